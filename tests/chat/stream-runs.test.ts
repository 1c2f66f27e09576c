import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChunkNormaliser } from '../../src/modules/chat/answer/chunk-normaliser.ts'
import { ChunkRun } from '../../src/modules/chat/answer/chunk-run.ts'
import type { StreamReader } from '../../src/modules/chat/answer/answer-form.ts'
import { EventSplitter } from '../../src/providers/streams/event-splitter.ts'
import { openAiWire } from '../../src/wires/openai-chat/openai-wire.ts'
import { longOr } from '../support/long-or.ts'
import { ChunkNormaliser as ChunkNormaliserBefore } from './streams-before/chunk-normaliser.ts'
import { EventSplitter as EventSplitterBefore } from './streams-before/event-splitter.ts'

const EVENT_BYTES_MAX = 4_096
const CONTEXT = { provider: 'vendor', requestedModel: 'ours', startedMs: 1_760_000_000_000 }
const RUNS = longOr(10_000, 2_500)
/** Of a stream whose vendor has ids of another form. */
const CREATED_ID = /chatcmpl-[0-9a-f]{24}/g

/** What a client and the bill see of a stream. */
interface Seen {
  readonly bytes: string
  readonly error: string | null
  readonly usage: unknown
  readonly delivered: number
  readonly hasFinished: boolean
}

interface Form {
  readonly splitter: Pick<EventSplitter, 'push' | 'end'>
  readonly reader: StreamReader
  readonly write: (reader: StreamReader, payloads: readonly Buffer[]) => Buffer
}

interface Options {
  readonly kind: 'chat' | 'completion'
  readonly isUsageAsked: boolean
}

const formBefore = (options: Options): Form => ({
  splitter: new EventSplitterBefore({ eventBytesMax: EVENT_BYTES_MAX }),
  reader: new ChunkNormaliserBefore(CONTEXT, options),
  write: writeEach,
})

const formOfRuns = (options: Options): Form => ({
  splitter: new EventSplitter({ eventBytesMax: EVENT_BYTES_MAX }),
  reader: new ChunkNormaliser(CONTEXT, options),
  write: (reader, payloads) => {
    if (payloads.length < 2) return writeEach(reader, payloads)
    const run = new ChunkRun()
    try {
      reader.readAll?.(payloads, run)
    } catch (error) {
      throw new CutOff(openAiWire.openStream().write(run.finish()), error)
    }
    const batch = run.finish()
    // The frames say the same as the payloads.
    expect(openAiWire.openStream().write([...batch])).toEqual(batch.frames)
    return openAiWire.openStream().write(batch)
  },
})

/** An error after frames that the client still receives. */
class CutOff extends Error {
  readonly frames: Buffer

  constructor(frames: Buffer, cause: unknown) {
    super(cause instanceof Error ? cause.message : 'failed', { cause })
    this.frames = frames
  }
}

function writeEach(reader: StreamReader, payloads: readonly Buffer[]): Buffer {
  const chunks: Buffer[] = []
  try {
    for (const payload of payloads) {
      const chunk = reader.read(payload)
      if (chunk !== null) chunks.push(chunk)
    }
  } catch (error) {
    throw new CutOff(openAiWire.openStream().write(chunks), error)
  }
  return openAiWire.openStream().write(chunks)
}

function relay({ splitter, reader, write }: Form, reads: readonly Buffer[]): Seen {
  const sent: Buffer[] = []
  let failure: string | null = null
  try {
    for (const read of reads) sent.push(write(reader, splitter.push(Buffer.from(read))))
    sent.push(write(reader, splitter.end()))
  } catch (error) {
    if (error instanceof CutOff) sent.push(error.frames)
    failure = error instanceof Error ? error.message : 'failed'
  }
  return {
    bytes: Buffer.concat(sent).toString('latin1').replaceAll(CREATED_ID, 'chatcmpl-created'),
    error: failure,
    usage: reader.reportedUsage,
    delivered: reader.delivered.countTokens((text) => text.length),
    hasFinished: reader.hasFinished,
  }
}

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\u0000', '\ud800', ': ', 'data: [DONE]', '\n\n') },
)

const delta = fc.oneof(
  { weight: 8, arbitrary: text.map((content) => ({ content })) },
  { weight: 1, arbitrary: text.map((content) => ({ role: 'assistant', content })) },
  { weight: 1, arbitrary: text.map((reasoning_content) => ({ reasoning_content })) },
  {
    weight: 1,
    arbitrary: text.map((argument) => ({ tool_calls: [{ index: 0, function: { arguments: argument } }] })),
  },
  { weight: 1, arbitrary: fc.constant({}) },
)

/** Members that the chunks of one stream have in common. */
const common = fc.record({
  id: fc.constantFrom('chatcmpl-1', 'other', null),
  model: fc.constantFrom('ours', 'theirs'),
  fingerprint: fc.constantFrom({}, { system_fingerprint: 'fp' }),
  hasPadding: fc.boolean(),
})

const chunk = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ delta, padding: fc.string({ maxLength: 5 }), index: fc.constantFrom(0, 0, 0, 1) }),
  },
  { weight: 1, arbitrary: fc.constant({ finish_reason: 'stop' }) },
  { weight: 1, arbitrary: fc.constant({ usage: { prompt_tokens: 3, completion_tokens: 5 } }) },
  { weight: 1, arbitrary: fc.constantFrom('{"error":{"message":"overloaded"}}', '{broken', '[]', '{}') },
)

const lineEnd = fc.constantFrom('\n', '\n', '\n', '\r\n')
const noise = fc.constantFrom('', '', '', '', ': comment\n', 'event: x\n', ':\n\n', 'id: 1\r\n')
/** What follows the JSON of a chunk in its line. */
const after = fc.oneof(
  { weight: 20, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(' ', 'x', '}') },
)
const stream = fc.record({
  common,
  chunks: fc.array(fc.record({ chunk, lineEnd, noise, after }), { maxLength: 14 }),
  ending: fc.constantFrom('data: [DONE]\n\n', '', 'data: {"half":'),
})

type RandomStream = typeof stream extends fc.Arbitrary<infer Value> ? Value : never

function bytesOf({ common: shared, chunks, ending }: RandomStream): Buffer {
  const base = { id: shared.id, object: 'chat.completion.chunk', created: 1, model: shared.model }
  const events = chunks.map(({ chunk: given, lineEnd: end, noise: before, after: rest }) => {
    if (typeof given === 'string') return `${before}data: ${given}${end}${end}`
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason: null }
    const { padding = '', usage, ...members } = { padding: undefined, usage: undefined, ...given }
    const choices = usage === undefined ? [{ ...choice, ...members }] : []
    const body = {
      ...base,
      choices,
      ...shared.fingerprint,
      ...(usage === undefined ? {} : { usage }),
      ...(shared.hasPadding ? { obfuscation: padding } : {}),
    }
    return `${before}data: ${JSON.stringify(body)}${rest}${end}${end}`
  })
  return Buffer.from(events.join('') + ending)
}

function splitAt(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const cuts = [...new Set(shares.map((share) => Math.floor(share * bytes.length)))].toSorted((a, b) => a - b)
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length))
}

test('a stream that is read in runs is byte for byte what it is chunk by chunk, however its bytes are split', () => {
  fc.assert(
    fc.property(
      stream,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
      fc.record({ kind: fc.constant('chat' as const), isUsageAsked: fc.boolean() }),
      (given, shares, options) => {
        const reads = splitAt(bytesOf(given), shares)
        expect(relay(formOfRuns(options), reads)).toEqual(relay(formBefore(options), reads))
      },
    ),
    { numRuns: RUNS },
  )
})
