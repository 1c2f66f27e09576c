import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { envelopMessage } from './message-head.ts'
import { toMessageUsage } from './message-usage.ts'
import { readSpokenText } from '../read-spoken-text.ts'
import { readThoughts, type Thought } from '../read-thoughts.ts'
import { toStopReason } from './stop-reason.ts'

/** Converts a complete `chat.completion` to a message of Anthropic's wire. */
export function toMessage(completion: Readonly<Record<string, unknown>>): object {
  const choice = asRecord(asList(completion['choices'])[0])
  const message = asRecord(choice['message'])
  const calls = asList(message['tool_calls']).map(asRecord).filter(isKnownCall)
  const { refusal } = message
  const texts = [readSpokenText(message['content']), refusal].filter(
    (text) => typeof text === 'string' && text !== '',
  )
  const stopSequence = typeof choice['stop_reason'] === 'string' ? choice['stop_reason'] : null
  return envelopMessage({
    id: completion['id'],
    model: completion['model'],
    content: [
      ...readThoughts(message).flatMap(toThoughtBlocks),
      ...texts.map((text) => ({ type: 'text', text })),
      ...calls.map(toToolUse),
    ],
    stopReason: toStopReason({
      finishReason: String(choice['finish_reason']),
      stopSequence,
      isRefusal: typeof refusal === 'string' && refusal !== '',
      hasToolCalls: calls.length > 0,
    }),
    stopSequence,
    usage: toMessageUsage(completion['usage']),
  })
}

function toThoughtBlocks(thought: Thought): object[] {
  if (thought.kind === 'redacted') return [{ type: 'redacted_thinking', data: thought.data }]
  if (thought.kind === 'signature') return []
  return [{ type: 'thinking', thinking: thought.text, signature: thought.signature ?? '' }]
}

/** Who calls a tool: the model, not code that runs at the vendor. */
export const DIRECT_CALLER = { type: 'direct' } as const

function isKnownCall(call: Record<string, unknown>): boolean {
  return isRecord(call['function'] ?? call['custom'])
}

function toToolUse(call: Record<string, unknown>): object {
  const called = asRecord(call['function'] ?? call['custom'])
  return {
    type: 'tool_use',
    id: call['id'],
    name: called['name'],
    input: readInput(called['arguments'] ?? called['input']),
    caller: DIRECT_CALLER,
  }
}

/** The wire requires an object, but the arguments may be cut off. */
function readInput(text: unknown): object {
  if (typeof text !== 'string' || text.trim() === '') return {}
  try {
    const parsed: unknown = parseJson(text)
    return isRecord(parsed) ? parsed : { arguments: parsed }
  } catch {
    return { arguments: text }
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
