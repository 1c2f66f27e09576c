import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MessageStream } from './anthropic-messages/message-stream.ts'
import { toMessage } from './anthropic-messages/to-message.ts'
import { ResponseStream } from './openai-responses/response-stream.ts'
import { readTools } from './openai-responses/tool-names.ts'

/** What a model of the chat form answers. */
interface Answer {
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly input: Record<string, string> }[]
  readonly isCut: boolean
  readonly prompt: number
  readonly cached: number
  readonly completion: number
}

const count = fc.integer({ min: 0, max: 100_000 })
const answer: fc.Arbitrary<Answer> = fc
  .record({
    text: fc.string({ unit: 'grapheme', minLength: 1 }),
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

function toWhole(said: Answer): Record<string, unknown> {
  const message = { role: 'assistant', content: said.text, tool_calls: callsOf(said) }
  return {
    id: 'chatcmpl-1',
    model: 'm',
    choices: [{ index: 0, message, finish_reason: finishOf(said) }],
    usage: usageOf(said),
  }
}

/** The same as a stream, its texts in pieces of a length. */
function toChunks(said: Answer, length: number): Record<string, unknown>[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'chatcmpl-1',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...piecesOf(said.text, length).map((content) => chunk({ content })),
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

/** Never half a character. */
function piecesOf(text: string, length: number): string[] {
  const characters = Array.from(text)
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, index) =>
    characters.slice(index * length, (index + 1) * length).join(''),
  )
}

/** What a client reads, whichever wire it speaks. */
interface Read {
  text: string
  calls: unknown[]
  end: unknown
  usage: unknown[]
}

const expectedOf = (said: Answer, ends: { length: string; tool_calls: string; stop: string }): Read => ({
  text: said.text,
  calls: said.calls.map(({ id, input }) => [id, 'look', input]),
  end: ends[finishOf(said)],
  usage: [said.prompt, said.cached, said.completion],
})

const MESSAGE_ENDS = { length: 'max_tokens', tool_calls: 'tool_use', stop: 'end_turn' }
const RESPONSE_ENDS = { length: 'incomplete', tool_calls: 'completed', stop: 'completed' }

// oxlint-disable-next-line typescript/no-explicit-any -- what was written is read as a client would, and fails loudly
type Json = any

const parse = (payload: Buffer): Json => JSON.parse(payload.toString())

function readMessage(message: Json): Read {
  const blocks: Json[] = message.content
  const { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output } = message.usage
  return {
    text: blocks.map(({ text }) => text ?? '').join(''),
    calls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input: given }) => [id, name, given]),
    end: message.stop_reason,
    usage: [input + cached, cached, output],
  }
}

/** As the SDK puts a message together of its events. */
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
      const { text = '', partial_json: piece = '' } = event.delta
      if (event.delta.type === 'text_delta') message.content[event.index].text += text
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

function readResponse(response: Json): Read {
  const items: Json[] = response.output
  const { input_tokens: input, input_tokens_details: details, output_tokens: output } = response.usage
  return {
    text: items.flatMap(({ content = [] }) => content.map(({ text = '' }: Json) => text)).join(''),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: given }) => [id, name, JSON.parse(given)]),
    end: response.status,
    usage: [input, details.cached_tokens, output],
  }
}

const REQUEST = { model: 'm', input: 'Hi', tools: [{ type: 'function', name: 'look', parameters: {} }] }
const newResponse = () => new ResponseStream('resp_1', REQUEST, readTools(REQUEST.tools))

describe('an answer of the chat form', () => {
  const length = fc.integer({ min: 1, max: 7 })

  test('is the same message, whole and streamed', () => {
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

  test('is the same response, whole and streamed, and as its events tell it', () => {
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
        const given = events.filter(({ type }) => type === 'response.function_call_arguments.done')
        expect(given.map((event) => JSON.parse(event.arguments))).toEqual(
          said.calls.map(({ input }) => input),
        )
      }),
    )
  })
})
