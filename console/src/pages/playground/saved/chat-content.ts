import type { ChatContent } from '../../../api/saved-chats.ts'
import { readPlaygroundSearch, type PlaygroundSearch } from '../playground-search.ts'
import type { AssistantMessage, ChatMessage, ToolCall } from '../chat/chat-state.ts'

const PARAMETERS = ['system', 'temperature', 'top_p', 'max_tokens', 'effort', 'tools', 'schema'] as const
const NAME_LENGTH_MAX = 80

/** What is kept of a conversation: pictures and figures are left out. */
export function toContent(
  model: string,
  search: PlaygroundSearch,
  messages: readonly ChatMessage[],
): ChatContent {
  const parameters = PARAMETERS.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]]))
  return { model, parameters: Object.fromEntries(parameters), messages: messages.map(toKept) }
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
  // Only these, because what a colleague shares opens nothing and asks no second model.
  const known = Object.fromEntries(PARAMETERS.map((name) => [name, parameters[name]]))
  const cleared = Object.fromEntries(PARAMETERS.map((name) => [name, undefined]))
  const search = { ...cleared, ...readPlaygroundSearch({ ...known, model }) }
  return { search, messages: messages.flatMap((message) => fromKept(message)) }
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
