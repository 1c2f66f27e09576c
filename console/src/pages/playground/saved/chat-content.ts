import type { ChatContent } from '../../../api/saved-chats.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import type { AssistantMessage, ChatMessage, ToolCall } from '../chat/chat-state.ts'
import { keptParameters, searchFromKept } from './kept-parameters.ts'

const NAME_LENGTH_MAX = 80

/** What is kept of a conversation: pictures and figures are left out. */
export function toContent(
  model: string,
  search: PlaygroundSearch,
  messages: readonly ChatMessage[],
): ChatContent {
  return { model, parameters: keptParameters(search), messages: messages.map(toKept) }
}

/** The prompt without answers: what the person wrote up to the last question. */
export function promptOf(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1)
}

/** A name for a conversation that has none: the beginning of its first question. */
export function nameOf(messages: readonly ChatMessage[]): string {
  const first =
    messages
      .find(({ role }) => role === 'user')
      ?.text.replaceAll(/\s+/g, ' ')
      .trim() ?? ''
  return first === '' ? 'A conversation' : first.slice(0, NAME_LENGTH_MAX)
}

/** Reads what was kept, by whatever program: everything that is not understood is left out. */
export function fromContent(content: ChatContent): { search: PlaygroundSearch; messages: ChatMessage[] } {
  const { parameters = {}, model, messages } = content
  return {
    search: searchFromKept(model, parameters),
    messages: messages.flatMap((message) => fromKept(message)),
  }
}

function toKept(message: ChatMessage): Record<string, unknown> {
  if (message.role === 'user') return { role: 'user', content: message.text }
  const { text, model, reasoning, toolCalls } = message
  return {
    role: 'assistant',
    content: text,
    model,
    ...(reasoning !== '' && { reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  }
}

function fromKept(kept: Readonly<Record<string, unknown>>): ChatMessage[] {
  const id = crypto.randomUUID()
  const text = textOf(kept['content'])
  if (kept['role'] === 'user') return [{ role: 'user', id, text, images: [] }]
  if (kept['role'] !== 'assistant') return []
  const calls: unknown[] = Array.isArray(kept['tool_calls']) ? kept['tool_calls'] : []
  const answer: AssistantMessage = {
    role: 'assistant',
    id,
    model: textOf(kept['model']),
    text,
    reasoning: textOf(kept['reasoning']),
    toolCalls: calls.flatMap(readCall),
    isStreaming: false,
    startedAtMs: 0,
  }
  return [answer]
}

function readCall(call: unknown): ToolCall[] {
  if (typeof call !== 'object' || call === null) return []
  const members = call as Readonly<Record<string, unknown>>
  const id = textOf(members['id'])
  if (id === '') return []
  return [
    {
      id,
      name: textOf(members['name']),
      argumentsText: textOf(members['argumentsText']),
      ...(typeof members['result'] === 'string' && { result: members['result'] }),
    },
  ]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
