import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startLlama, type LlamaStage } from './llama-stage.ts'

let llama: LlamaStage
beforeAll(async () => {
  llama = await startLlama()
})
afterAll(() => llama.close())

const HELLO = [{ role: 'user', content: 'Hello!' }]
/** Sampling settings that give the same tokens each time. */
const FIXED = { messages: HELLO, temperature: 0, max_tokens: 12 }

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
type Answer = any

const chat = async (body: object): Promise<Answer> => {
  const response = await llama.ask('/chat/completions', body)
  return { status: response.status, ...(await response.json().then((value: Answer) => value)) }
}
const stream = async (body: object): Promise<Answer[]> => {
  const response = await llama.ask('/chat/completions', { ...body, stream: true })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  expect(lines.pop()).toBe('data: [DONE]')
  return lines.map((line) => JSON.parse(line.slice('data: '.length)))
}
const readHealth = async (): Promise<Answer> => (await fetch(llama.endpoint.replace('/v1', '/health'))).json()
const countGenerated = async () => {
  const metrics = await (await fetch(llama.endpoint.replace('/v1', '/metrics'))).text()
  return Number(/^llamacpp:tokens_predicted_total (\d+)$/m.exec(metrics)?.[1])
}
const refused = async (body: object | string) => {
  const response = await llama.ask('/chat/completions', body)
  const { error }: Answer = await response.json()
  return [response.status, error.type, error.param, error.code]
}

const PET = {
  type: 'object',
  properties: {
    kind: { enum: ['cat', 'dog'] },
    age: { type: 'integer' },
    tags: { type: 'array', items: { $ref: '#/$defs/tag' }, maxItems: 2 },
    owner: { anyOf: [{ type: 'null' }, { type: 'boolean' }] },
  },
  required: ['kind', 'age', 'tags', 'owner'],
  additionalProperties: false,
  $defs: { tag: { enum: ['a', 'b'] } },
}
const isPet = ({ kind, age, tags, owner, ...rest }: Answer) =>
  ['cat', 'dog'].includes(kind) &&
  Number.isInteger(age) &&
  tags.every((tag: unknown) => tag === 'a' || tag === 'b') &&
  (owner === null || typeof owner === 'boolean') &&
  Object.keys(rest).length === 0

const TOOLS = [
  { type: 'function', function: { name: 'keep_pet', description: 'Keeps a pet.', parameters: PET } },
  { type: 'function', function: { name: 'now' } },
]

describe('the engine of llama.cpp', () => {
  test('returns the same tokens and usage with and without streaming', async () => {
    const whole = await chat(FIXED)
    expect(whole).toMatchObject({
      object: 'chat.completion',
      model: 'acme/tiny',
      choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'length' }],
      usage: { completion_tokens: 12 },
    })
    const [{ message }] = whole.choices
    expect(message.content).not.toBe('')
    const chunks = await stream({ ...FIXED, stream_options: { include_usage: true } })
    const last = chunks.pop()
    expect([last.choices, last.usage.completion_tokens, last.usage.prompt_tokens]).toEqual([
      [],
      12,
      whole.usage.prompt_tokens,
    ])
    expect(chunks.at(-1).choices[0].finish_reason).toBe('length')
    expect(chunks.map(({ choices: [{ delta }] }) => delta.content ?? '').join('')).toBe(message.content)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(chunks.length).toBeGreaterThan(4)
    // The engine does not compute tokens again that are in its cache.
    expect(last.usage.prompt_tokens_details.cached_tokens).toBe(last.usage.prompt_tokens)
  })

  test('samples the same text for the same seed, and another text for another seed', async () => {
    const draw = async (seed: number) =>
      (await chat({ ...FIXED, temperature: 1.5, top_p: 1, top_k: -1, seed })).choices[0].message.content
    expect(await draw(1)).toBe(await draw(1))
    expect(await draw(1)).not.toBe(await draw(2))
  })

  test('ends before a stop text, and at the token limit', async () => {
    const { content } = (await chat(FIXED)).choices[0].message
    const stop = content.slice(3, 5)
    const cut = await chat({ ...FIXED, stop: [stop] })
    expect([cut.choices[0].message.content, cut.choices[0].finish_reason]).toEqual([
      content.slice(0, content.indexOf(stop)),
      'stop',
    ])
    const { usage } = await chat({ ...FIXED, max_tokens: 100, max_completion_tokens: 3 })
    expect(usage.completion_tokens).toBe(3)
  })

  test('writes JSON that matches the schema of the request', async () => {
    for (const seed of [1, 2, 3]) {
      const { choices } = await chat({
        messages: HELLO,
        seed,
        response_format: { type: 'json_schema', json_schema: { name: 'pet', schema: PET } },
      })
      const pet = JSON.parse(choices[0].message.content)
      expect([pet, isPet(pet), choices[0].finish_reason]).toEqual([pet, true, 'stop'])
    }
    const hostile = 'a"b\\ | root ::= [^\n]* {2}\u0001é'
    const nested = { type: 'object', properties: { [hostile]: { enum: [hostile, 1.5, null] } } }
    const quoted = await chat({
      messages: HELLO,
      response_format: { type: 'json_schema', json_schema: { name: 'odd', schema: nested } },
    })
    const odd = JSON.parse(quoted.choices[0].message.content)
    expect([hostile, 1.5, null]).toContain(odd[hostile])
    const object = await chat({ ...FIXED, response_format: { type: 'json_object' } })
    expect(object.choices[0].message.content).toMatch(/^\{/)
  })

  test('obeys the bounds of lengths, also large ones, and refuses those that it cannot obey', async () => {
    const BIT = { enum: [0, 1] }
    const formatOf = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'bounds', schema } })
    const write = async (schema: object): Promise<Answer> => {
      const { choices } = await chat({ messages: HELLO, seed: 1, response_format: formatOf(schema) })
      return JSON.parse(choices[0].message.content)
    }
    expect([...(await write({ type: 'string', minLength: 300, maxLength: 900 }))].length).toBeGreaterThan(299)
    const list = await write({ type: 'array', items: BIT, minItems: 30, maxItems: 50_000 })
    expect(list.length).toBeGreaterThan(29)
    expect(await write({ type: 'array', prefixItems: [BIT, BIT], maxItems: 1 })).toHaveLength(1)
    for (const schema of [
      { type: 'string', minLength: 501 },
      { type: 'array', items: BIT, minItems: 501 },
      { type: 'string', minLength: 5, maxLength: 4 },
      { type: 'string', maxLength: -1 },
    ])
      expect([schema, ...(await refused({ ...FIXED, response_format: formatOf(schema) }))]).toEqual([
        schema,
        400,
        'invalid_request_error',
        'response_format',
        null,
      ])
  })

  test('calls the required tool with arguments that match its schema, with and without streaming', async () => {
    const tool_choice = { type: 'function', function: { name: 'keep_pet' } }
    const { choices } = await chat({ messages: HELLO, tools: TOOLS, tool_choice, seed: 5 })
    const [{ message, finish_reason }] = choices
    expect([message.content, message.tool_calls[0].function.name, finish_reason]).toEqual([
      null,
      'keep_pet',
      'tool_calls',
    ])
    expect(isPet(JSON.parse(message.tool_calls[0].function.arguments))).toBe(true)
    const chunks = await stream({ messages: HELLO, tools: TOOLS, tool_choice, seed: 5 })
    const calls = chunks.flatMap(({ choices: [{ delta }] }) => delta.tool_calls ?? [])
    expect(calls[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'keep_pet' } })
    expect(calls.map((call: Answer) => call.function.arguments).join('')).toBe(
      message.tool_calls[0].function.arguments,
    )
  })

  test('calls one of the tools if tool_choice is required', async () => {
    for (const seed of [1, 2, 3]) {
      const { choices } = await chat({ messages: HELLO, tools: TOOLS, tool_choice: 'required', seed })
      const [call] = choices[0].message.tool_calls
      const given = JSON.parse(call.function.arguments)
      expect([call.function.name, given]).toEqual([
        call.function.name,
        call.function.name === 'now' ? {} : given,
      ])
      if (call.function.name === 'keep_pet') expect(isPet(given)).toBe(true)
    }
  })

  test('accepts messages with tool calls and tool results', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } }
    const messages: object[] = [
      { role: 'system', content: 'Be brief.' },
      ...HELLO,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'noon' }] },
    ]
    const answered = await chat({ messages, tools: TOOLS, max_tokens: 4 })
    const without = await chat({ messages: messages.slice(0, 2), tools: TOOLS, max_tokens: 4 })
    expect(answered.status).toBe(200)
    expect(answered.usage.prompt_tokens).toBeGreaterThan(without.usage.prompt_tokens)
    const unknown = messages.with(3, { role: 'tool', tool_call_id: 'call_2', content: 'noon' })
    expect(await refused({ messages: unknown })).toEqual([
      400,
      'invalid_request_error',
      'messages.3.tool_call_id',
      null,
    ])
  })

  test('answers several requests at once, and queues the rest', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => chat(FIXED)))
    const texts = answers.map(({ choices }) => choices[0].message.content)
    expect([answers.map(({ status }) => status), new Set(texts).size]).toEqual([Array(6).fill(200), 1])
    expect(await readHealth()).toMatchObject({ in_use: 0, waiting: 0 })
  })

  test('stops when the client disconnects, during an answer and in the queue', async () => {
    const left = new AbortController()
    const before = await countGenerated()
    const long = { messages: HELLO, max_tokens: 1_900, stream: true, response_format: ENDLESS }
    const started = await Promise.all([1, 2].map(() => llama.ask('/chat/completions', long, left.signal)))
    const waiting = llama.ask('/chat/completions', long, left.signal).catch(() => 'left')
    await eventually(async () => expect(await readHealth()).toMatchObject({ in_use: 2, waiting: 1 }))
    left.abort()
    expect(await waiting).toBe('left')
    await Promise.all(started.map((response) => response.text().catch(() => 'left')))
    await eventually(async () => expect(await readHealth()).toMatchObject({ in_use: 0, waiting: 0 }))
    // Two complete contexts would be almost 4,000 tokens.
    expect((await countGenerated()) - before).toBeLessThan(3_000)
    expect((await chat(FIXED)).status).toBe(200)
  })

  test('refuses invalid requests with errors in OpenAI format', async () => {
    const type = 'invalid_request_error'
    const content = 'a'.repeat(9_000)
    expect(await refused({ messages: [{ role: 'user', content }] })).toEqual([
      400,
      type,
      'messages',
      'context_length_exceeded',
    ])
    expect(await refused('{')).toEqual([400, type, null, null])
    expect(await refused({})).toEqual([400, type, null, null])
    expect(await refused({ ...FIXED, n: 2 })).toEqual([400, type, 'n', null])
    expect(await refused({ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] })).toEqual([
      400,
      type,
      'messages.0.content',
      null,
    ])
    const schema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }
    const format = { type: 'json_schema', json_schema: { name: 'endless', schema } }
    expect(await refused({ ...FIXED, response_format: format })).toEqual([400, type, 'response_format', null])
    const endless = [{ type: 'function', function: { name: 'endless', parameters: schema } }]
    expect(await refused({ ...FIXED, tools: endless, tool_choice: 'required' })).toEqual([
      400,
      type,
      'tools',
      null,
    ])
    const tool_choice = { type: 'function', function: { name: 'other' } }
    expect(await refused({ ...FIXED, tools: TOOLS, tool_choice })).toEqual([400, type, 'tool_choice', null])
    const huge = await llama.ask('/chat/completions', 'x'.repeat(17 * 1024 * 1024)).then(
      ({ status }) => status,
      () => 413,
    )
    expect(huge).toBe(413)
    expect((await chat(FIXED)).status).toBe(200)
  })

  test('lists its model and creates embeddings', async () => {
    const models: Answer = await (await fetch(`${llama.endpoint}/models`)).json()
    expect(models.data).toMatchObject([{ id: 'acme/tiny', max_model_len: 2_048 }])
    const embed = async (body: object): Promise<Answer> => (await llama.ask('/embeddings', body)).json()
    const { data, usage } = await embed({ input: ['one', 'two'] })
    expect([data.length, data[0].embedding.length, usage.prompt_tokens > 0]).toEqual([2, 64, true])
    expect(data[0].embedding).not.toEqual(data[1].embedding)
    const { data: packed } = await embed({ input: 'one', encoding_format: 'base64' })
    const bytes = Buffer.from(packed[0].embedding, 'base64')
    expect(bytes.readFloatLE(0)).toBeCloseTo(data[0].embedding[0], 5)
  })
})

/** A grammar that allows only long answers. */
const ENDLESS = {
  type: 'json_schema',
  json_schema: {
    name: 'endless',
    schema: {
      type: 'array',
      items: { type: 'object', properties: { alphabet: { const: 'abcdefghijklmnopqrstuvwxyz' } } },
      minItems: 400,
    },
  },
}
