import type { ChatMessage, ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { parseDirectives, type Directives } from './directives.ts'
import { dropReminders } from './drop-reminders.ts'

/** The parts of a request that the sandbox reacts to. Each text has a maximum length, so that no prompt makes it slow. */
export interface Conversation {
  /** The last user message without its directives. */
  readonly userText: string
  readonly directives: Directives
  readonly media: readonly MediaPart[]
  /** Texts of the system and developer messages. */
  readonly instructions: string
  /** Not empty if the conversation ends with tool results. */
  readonly toolResults: readonly ToolResult[]
  /** Texts that may describe a schema: the instructions and the last user message, with a higher length limit than the rest. */
  readonly described: string
  /** Equal for equal conversations. */
  readonly fingerprint: string
}

interface ToolResult {
  readonly toolName: string | null
  readonly text: string
}

export type MediaPart = Exclude<ContentPart, { type: 'text' | 'refusal' }>

const USER_TEXT_LENGTH_MAX = 4096
const INSTRUCTIONS_LENGTH_MAX = 1000
const DESCRIBED_LENGTH_MAX = 65_536
const TOOL_RESULTS_MAX = 16
const TOOL_RESULT_LENGTH_MAX = 600

export function readConversation(body: ChatRequest): Conversation {
  const { messages } = body
  const lastUser = messages.findLast((message) => message.role === 'user')
  const { directives, remainingText } = parseDirectives(lastUser ? dropReminders(textOf(lastUser)) : '')
  const instructions = messages.filter(({ role }) => role === 'system' || role === 'developer').map(textOf)
  return {
    userText: clip(remainingText.trim(), USER_TEXT_LENGTH_MAX),
    directives,
    media: lastUser ? listMedia(lastUser) : [],
    instructions: clip(instructions.join(' ').trim(), INSTRUCTIONS_LENGTH_MAX),
    described: `${instructions.join(' ')}\n${remainingText}`.slice(0, DESCRIBED_LENGTH_MAX),
    toolResults: readToolResults(messages),
    fingerprint: `${body.seed ?? 'unseeded'}\n${messages.map(describeMessage).join('\n')}`,
  }
}

/** Shortens a text without cutting a surrogate pair. */
export function clip(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text.toWellFormed()
  const last = text.charCodeAt(lengthMax - 1)
  const isPairCut = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, isPairCut ? lengthMax - 1 : lengthMax).toWellFormed()
}

function textOf(message: ChatMessage): string {
  const { content } = message
  if (typeof content === 'string') return content
  const texts: string[] = []
  for (const part of content ?? []) if (part.type === 'text') texts.push(part.text)
  return texts.join(' ')
}

function listMedia(message: ChatMessage): MediaPart[] {
  if (typeof message.content === 'string') return []
  return (message.content ?? []).filter((part) => part.type !== 'text' && part.type !== 'refusal')
}

function readToolResults(messages: readonly ChatMessage[]): ToolResult[] {
  const lastOther = messages.findLastIndex(({ role }) => role !== 'tool' && role !== 'function')
  const calls = messages[lastOther]?.tool_calls ?? []
  return messages.slice(lastOther + 1, lastOther + 1 + TOOL_RESULTS_MAX).map((message) => {
    const call = calls.find(({ id }) => id === message.tool_call_id)
    return {
      toolName: (call?.type === 'custom' ? call.custom.name : call?.function.name) ?? message.name ?? null,
      text: clip(textOf(message).trim(), TOOL_RESULT_LENGTH_MAX),
    }
  })
}

const SAMPLE_LENGTH = 4096

// Both ends and the length distinguish texts well enough, at a constant cost.
function describeMessage(message: ChatMessage): string {
  const text = textOf(message)
  const sample =
    text.length <= 2 * SAMPLE_LENGTH
      ? text
      : `${text.slice(0, SAMPLE_LENGTH)}${text.slice(-SAMPLE_LENGTH)}${text.length}`
  const media = listMedia(message).map((part) => part.type)
  return `${message.role} ${message.tool_call_id ?? ''} ${media.join(' ')} ${sample}`
}
