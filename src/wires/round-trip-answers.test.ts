import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MessageStream } from './anthropic-messages/message-stream.ts'
import { toMessage } from './anthropic-messages/to-message.ts'
import { ResponseStream } from './openai-responses/response-stream.ts'
import { unsealThoughts } from './openai-responses/sealed-thoughts.ts'
import { readTools } from './openai-responses/tool-names.ts'

/** The answer of a model in the chat format. */
interface Answer {
  readonly thought: Thought | null
  readonly text: string
  readonly refusal: string | null
  readonly calls: readonly { readonly id: string; readonly input: Record<string, string> }[]
  readonly isCut: boolean
  readonly prompt: number
  readonly cached: number
  readonly completion: number
}

interface Thought {
  readonly text: string
  /** The signature that the vendor checks when the reasoning is sent back. */
  readonly signature: string | null
  /** Whether a stream repeats the text together with the signature. */
  readonly isToldAgain: boolean
}

const said = fc.string({ unit: 'grapheme', minLength: 1 })
const thought: fc.Arbitrary<Thought> = fc.record({
  text: said,
  signature: fc.option(fc.base64String({ minLength: 4 })),
  isToldAgain: fc.boolean(),
})
const count = fc.integer({ min: 0, max: 100_000 })
const answer: fc.Arbitrary<Answer> = fc
  .record({
    thought: fc.option(thought),
    text: fc.string({ unit: 'grapheme' }),
    refusal: fc.option(said),
    calls: fc.uniqueArray(
      fc.record({
        id: fc.uuid(),
        input: fc.dictionary(fc.constantFrom('city', 'unit'), fc.string({ unit: 'grapheme' })),
      }),
      { maxLength: 3, selector: ({ id }) => id },
    ),
    isCut: fc.boolean(),
    cached: count,
    fresh: count,
    completion: count,
  })
  .map(({ fresh, ...rest }) => ({ ...rest, prompt: rest.cached + fresh }))

const callsOf = ({ calls }: Answer) =>
  calls.map(({ id, input }) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: JSON.stringify(input) },
  }))

const finishOf = ({ isCut, calls }: Answer) => (isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop')

const usageOf = ({ prompt, cached, completion }: Answer) => ({
  prompt_tokens: prompt,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

/** Returns the reasoning members. Providers that sign reasoning send its text twice. */
function thoughtOf({ thought: had }: Answer): object {
  if (had === null) return {}
  const { text, signature } = had
  if (signature === null) return { reasoning_content: text }
  return { reasoning_content: text, reasoning_details: [{ type: 'reasoning.text', text, signature }] }
}

function toWhole(said: Answer): Record<string, unknown> {
  const { text, refusal } = said
  const content = text === '' ? null : text
  const message = { role: 'assistant', ...thoughtOf(said), content, refusal, tool_calls: callsOf(said) }
  return {
    id: 'chatcmpl-1',
    model: 'm',
    choices: [{ index: 0, message, finish_reason: finishOf(said) }],
    usage: usageOf(said),
  }
}

/** Returns the answer as a stream, with its texts in pieces of this length. */
function toChunks(said: Answer, length: number): Record<string, unknown>[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'chatcmpl-1',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...thoughtPiecesOf(said, length).map((delta) => chunk(delta)),
    ...piecesOf(said.text, length).map((content) => chunk({ content })),
    ...piecesOf(said.refusal ?? '', length).map((refusal) => chunk({ refusal })),
    ...callsOf(said).flatMap(({ function: { name, arguments: given }, ...call }, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }),
      ...piecesOf(given, length).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, finishOf(said)),
    { id: 'chatcmpl-1', model: 'm', choices: [], usage: usageOf(said) },
  ]
}

function thoughtPiecesOf({ thought: had }: Answer, length: number): object[] {
  if (had === null) return []
  const { text, signature, isToldAgain } = had
  const pieces = piecesOf(text, length).map((piece) => ({ reasoning_content: piece }))
  if (signature === null) return pieces
  const detail = { type: 'reasoning.text', signature, ...(isToldAgain ? { text } : {}) }
  return [...pieces, { reasoning_details: [detail] }]
}

/** Splits a text without splitting a surrogate pair. */
function piecesOf(text: string, length: number): string[] {
  const characters = Array.from(text)
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, index) =>
    characters.slice(index * length, (index + 1) * length).join(''),
  )
}

/** The parts of an answer that a client reads over any wire. */
interface Read {
  thoughts: unknown[]
  text: string
  calls: unknown[]
  end: unknown
  usage: unknown[]
}

interface Ends {
  readonly length: string
  readonly tool_calls: string
  readonly stop: string
  /** Only for wires that have a separate end for a refusal. */
  readonly refusal?: string
}

const expectedOf = (said: Answer, ends: Ends): Read => ({
  thoughts: said.thought === null ? [] : [[said.thought.text, said.thought.signature ?? '']],
  text: said.text + (said.refusal ?? ''),
  calls: said.calls.map(({ id, input }) => [id, 'look', input]),
  end: said.refusal === null ? ends[finishOf(said)] : (ends.refusal ?? ends[finishOf(said)]),
  usage: [said.prompt, said.cached, said.completion],
})

const MESSAGE_ENDS = { length: 'max_tokens', tool_calls: 'tool_use', stop: 'end_turn', refusal: 'refusal' }
const RESPONSE_ENDS = { length: 'incomplete', tool_calls: 'completed', stop: 'completed' }

// oxlint-disable-next-line typescript/no-explicit-any -- what was written is read as a client would, and fails loudly
type Json = any

const parse = (payload: Buffer): Json => JSON.parse(payload.toString())

function readMessage(message: Json): Read {
  const blocks: Json[] = message.content
  const { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output } = message.usage
  return {
    thoughts: blocks
      .filter(({ type }) => type === 'thinking')
      .map(({ thinking, signature }) => [thinking, signature]),
    text: blocks.map(({ text }) => text ?? '').join(''),
    calls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input: given }) => [id, name, given]),
    end: message.stop_reason,
    usage: [input + cached, cached, output],
  }
}

/** Assembles a message from its events, like the SDK. */
function assemble(events: readonly Json[]): Json {
  let message: Json = null
  const json = new Map<number, string>()
  for (const event of events) {
    if (event.type === 'message_start') message = structuredClone(event.message)
    if (event.type === 'content_block_start') {
      expect(event.index).toBe(message.content.length)
      message.content.push(event.content_block)
    }
    if (event.type === 'content_block_delta') {
      const { text = '', thinking = '', signature = '', partial_json: piece = '' } = event.delta
      const block = message.content[event.index]
      if (event.delta.type === 'text_delta') block.text += text
      if (event.delta.type === 'thinking_delta') block.thinking += thinking
      if (event.delta.type === 'signature_delta') block.signature += signature
      json.set(event.index, (json.get(event.index) ?? '') + piece)
    }
    if (event.type === 'content_block_stop' && message.content[event.index].type === 'tool_use')
      message.content[event.index].input = JSON.parse(json.get(event.index) || '{}')
    if (event.type === 'message_delta')
      message = { ...message, ...event.delta, usage: { ...message.usage, ...event.usage } }
  }
  expect(events.at(-1).type).toBe('message_stop')
  return message
}

/** Returns the visible text, and the signature that is sent back with the next turn. */
function readReasoning({ content, encrypted_content: sealed }: Json): [string, string] {
  const [detail]: readonly Json[] = unsealThoughts(sealed)?.details ?? []
  const text = content.map((part: Json) => part.text).join('')
  if (detail !== undefined) expect(detail.text).toBe(text)
  return [text, detail?.signature ?? '']
}

function readResponse(response: Json): Read {
  const items: Json[] = response.output
  const { input_tokens: input, input_tokens_details: details, output_tokens: output } = response.usage
  const messages = items.filter(({ type }) => type === 'message')
  return {
    thoughts: items.filter(({ type }) => type === 'reasoning').map(readReasoning),
    text: messages
      .flatMap(({ content }) => content.map(({ text = '', refusal = '' }: Json) => text + refusal))
      .join(''),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: given }) => [id, name, JSON.parse(given)]),
    end: response.status,
    usage: [input, details.cached_tokens, output],
  }
}

const REQUEST = {
  model: 'm',
  input: 'Hi',
  include: ['reasoning.encrypted_content'],
  tools: [{ type: 'function', name: 'look', parameters: {} }],
}
const newResponse = () => new ResponseStream('resp_1', REQUEST, readTools(REQUEST.tools))

describe('an answer of the chat form', () => {
  const length = fc.integer({ min: 1, max: 7 })

  test('is the same message, complete and streamed', () => {
    fc.assert(
      fc.property(answer, length, (said, pieces) => {
        const expected = expectedOf(said, MESSAGE_ENDS)
        expect(readMessage(JSON.parse(JSON.stringify(toMessage(toWhole(said)))))).toEqual(expected)
        const stream = new MessageStream()
        const events = [...toChunks(said, pieces).flatMap((chunk) => stream.add(chunk)), ...stream.end()]
        expect(readMessage(assemble(events.map(parse)))).toEqual(expected)
      }),
    )
  })

  test('is the same response, complete and streamed, and in its events', () => {
    fc.assert(
      fc.property(answer, length, (said, pieces) => {
        const expected = expectedOf(said, RESPONSE_ENDS)
        const whole = newResponse()
        const last = [...whole.add(toWhole(said)), ...whole.end()].map(parse).at(-1)
        expect(readResponse(last.response)).toEqual(expected)
        const stream = newResponse()
        const events = [...toChunks(said, pieces).flatMap((chunk) => stream.add(chunk)), ...stream.end()].map(
          parse,
        )
        expect(readResponse(events.at(-1).response)).toEqual(expected)
        const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
        expect(deltas.map(({ delta }) => delta).join('')).toBe(said.text)
        const refused = events.filter(({ type }) => type === 'response.refusal.delta')
        expect(refused.map(({ delta }) => delta).join('')).toBe(said.refusal ?? '')
        const thoughts = events.filter(({ type }) => type === 'response.reasoning_text.delta')
        expect(thoughts.map(({ delta }) => delta).join('')).toBe(said.thought?.text ?? '')
        const given = events.filter(({ type }) => type === 'response.function_call_arguments.done')
        expect(given.map((event) => JSON.parse(event.arguments))).toEqual(
          said.calls.map(({ input }) => input),
        )
      }),
    )
  })
})
