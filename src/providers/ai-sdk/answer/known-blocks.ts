import { isRecord } from '../../../kernel/is-record.ts'
import { EventSplitter } from '../../streams/event-splitter.ts'
import { toWebStream } from '../exchange/upstream-exchange.ts'

type Members = Readonly<Record<string, unknown>>

const EVENT_BYTES_MAX = 16 * 1024 * 1024

/**
 * Reduces the answers of Anthropic's wire to what the chat form has. The vendor's package checks answers against closed lists, so
 * one block, event or citation of a new type would make the whole answer an error.
 */
export function withKnownBlocks(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { ok, status, headers, body } = response
    if (!ok || body === null) return response
    if (String(headers.get('content-type')).includes('text/event-stream'))
      return new Response(toWebStream(reduceEvents(body)), { status, headers })
    const text = await response.text()
    const message = parseMembers(text)
    return new Response(message === null ? text : JSON.stringify(reduceMessage(message)), { status, headers })
  }
}

async function* reduceEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const splitter = new EventSplitter({ eventBytesMax: EVENT_BYTES_MAX })
  const skippedBlocks = new Set<unknown>()
  const frame = (payloads: readonly Buffer[]): Buffer =>
    Buffer.concat(payloads.map((payload) => frameOf(reduceEvent(payload, skippedBlocks))))
  for await (const chunk of bytes) {
    const frames = frame(splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
    if (frames.length > 0) yield frames
  }
  const rest = frame(splitter.end())
  if (rest.length > 0) yield rest
}

function frameOf(payload: Buffer | null): Buffer {
  return payload === null ? NOTHING : Buffer.concat([DATA, payload, EVENT_END])
}

const NOTHING = Buffer.alloc(0)
const DATA = Buffer.from('data: ')
const EVENT_END = Buffer.from('\n\n')

/** Returns null for an event that the chat form cannot express. */
function reduceEvent(payload: Buffer, skippedBlocks: Set<unknown>): Buffer | null {
  const event = parseMembers(payload.toString())
  // The package tells what is wrong with it.
  if (event === null) return payload
  const { type, index } = event
  switch (type) {
    case 'content_block_start': {
      const block = isRecord(event['content_block']) ? reduceBlock(event['content_block']) : null
      if (block === null) skippedBlocks.add(index)
      return block === null ? null : toBytes({ type, index, content_block: block })
    }
    case 'content_block_delta':
      return skippedBlocks.has(index) || !isKnownDelta(event['delta']) ? null : payload
    case 'content_block_stop':
      return skippedBlocks.has(index) ? null : payload
    case 'message_start': {
      const message = isRecord(event['message']) ? event['message'] : {}
      return toBytes({ type, message: { ...reduceMessage(message), content: [] } })
    }
    case 'message_delta': {
      const { stop_reason, stop_sequence } = isRecord(event['delta']) ? event['delta'] : {}
      return toBytes({ type, delta: { stop_reason, stop_sequence }, usage: reduceUsage(event['usage']) })
    }
    case 'message_stop':
    case 'ping':
    case 'error':
      return payload
    default:
      return null
  }
}

function reduceMessage(message: Members): Members {
  const { id, type, role, model, stop_reason, stop_sequence, usage, content } = message
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  return {
    id,
    type,
    role,
    model,
    stop_reason,
    stop_sequence,
    usage: reduceUsage(usage),
    content: blocks.flatMap((block) => (isRecord(block) ? (reduceBlock(block) ?? []) : [])),
  }
}

/** The members of each type of block that the chat form can express. */
const BLOCKS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text']],
  ['thinking', ['thinking', 'signature']],
  ['redacted_thinking', ['data']],
  ['tool_use', ['id', 'name', 'input']],
])

function reduceBlock(block: Members): Members | null {
  const names = BLOCKS.get(block['type'])
  if (names === undefined) return null
  return Object.fromEntries(['type', ...names].map((name) => [name, block[name]]))
}

const DELTAS: ReadonlySet<unknown> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
])

function isKnownDelta(delta: unknown): boolean {
  return isRecord(delta) && DELTAS.has(delta['type'])
}

/** A step of an unknown type is counted like a message, because the vendor bills its tokens. */
function reduceUsage(usage: unknown): unknown {
  if (!isRecord(usage) || !Array.isArray(usage['iterations'])) return usage
  const iterations = usage['iterations']
    .filter(isRecord)
    .map((step) => (STEPS.has(step['type']) ? step : { ...step, type: 'message' }))
  return { ...usage, iterations }
}

const STEPS: ReadonlySet<unknown> = new Set(['compaction', 'message', 'advisor_message', 'fallback_message'])

function parseMembers(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function toBytes(event: object): Buffer {
  return Buffer.from(JSON.stringify(event))
}
