import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { collect } from './collect.ts'

const MODEL = 'gpt-4o-mini'
const REASONING_MODEL = 'gpt-5.6'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
})

const ask = (content: string) => [{ role: 'user' as const, content }]

describe('chat with the OpenAI SDK', () => {
  test('an answer has content, a finish reason, usage and its cost', async () => {
    const completion = await client.chat.completions.create({
      model: MODEL,
      messages: [{ role: 'system', content: 'Be brief.' }, ...ask('[[sandbox:echo Hello, Ada.]]')],
    })
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: MODEL,
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Hello, Ada.', refusal: null },
        },
      ],
    })
    expect(completion.usage).toMatchObject({
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    })
    const { usage } = completion
    expect(usage?.total_tokens).toBe(Number(usage?.prompt_tokens) + Number(usage?.completion_tokens))
    expect(usage).toHaveProperty('cost_usd', expect.any(Number))
  })

  test('n, stop, seed, max_completion_tokens and logprobs work', async () => {
    const request = { model: MODEL, messages: ask('Tell me a story.'), seed: 7 }
    const completion = await client.chat.completions.create({
      ...request,
      n: 2,
      max_completion_tokens: 3,
      logprobs: true,
      top_logprobs: 2,
    })
    expect(completion.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'length'],
      [1, 'length'],
    ])
    expect(completion.choices[0]?.logprobs?.content).toHaveLength(3)
    expect(completion.choices[0]?.logprobs?.content?.[0]?.top_logprobs).toHaveLength(2)

    const [first, second] = await Promise.all([
      client.chat.completions.create(request),
      client.chat.completions.create(request),
    ])
    expect(second.choices).toEqual(first.choices)

    const stopped = await client.chat.completions.create({
      model: MODEL,
      messages: ask('[[sandbox:echo one two three]]'),
      stop: [' three'],
    })
    expect(stopped.choices[0]).toMatchObject({ message: { content: 'one two' }, finish_reason: 'stop' })
  })

  test('the response has the request id, the provider, the cost and the balance', async () => {
    const { data, response, request_id } = await client.chat.completions
      .create({ model: MODEL, messages: ask('Hi') })
      .withResponse()
    expect(request_id).toMatch(/^req_/)
    expect(response.headers.get('x-request-id')).toBe(request_id)
    expect(response.headers.get('x-gateway-provider')).toBe('sandbox')
    expect(Number(response.headers.get('x-gateway-balance-usd'))).toBeGreaterThan(0)
    expect(Number(response.headers.get('x-gateway-latency-ms'))).toBeGreaterThanOrEqual(0)
    const cost = Number(response.headers.get('x-gateway-cost-usd'))
    expect(cost).toBeGreaterThan(0)
    expect(data.usage).toHaveProperty('cost_usd', cost)
    expect(data).toHaveProperty('_request_id', request_id)
  })

  test('the raw response of a stream is an event stream that no proxy should buffer', async () => {
    const response = await client.chat.completions
      .create({ model: MODEL, messages: ask('Hi'), stream: true })
      .asResponse()
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(await response.text()).toMatch(/^data: \{.*\n\ndata: \[DONE\]\n\n$/s)
  })

  test('reasoning is requested by reasoning_effort or think, and read from reasoning_content', async () => {
    const byEffort = await client.chat.completions.create({
      model: REASONING_MODEL,
      messages: ask('Hi'),
      reasoning_effort: 'low',
    })
    expect(byEffort.choices[0]?.message).toHaveProperty('reasoning_content', expect.stringContaining('“Hi”'))
    expect(byEffort.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0)

    const thinking = { model: REASONING_MODEL, messages: ask('Hi'), think: true }
    const byThink = await client.chat.completions.create(thinking)
    expect(byThink.choices[0]?.message).toHaveProperty('reasoning_content', expect.stringContaining('“Hi”'))
  })
})

describe('a stream with the OpenAI SDK', () => {
  test('yields the role, then content piece by piece, then the finish reason', async () => {
    const stream = await client.chat.completions.create({
      model: MODEL,
      messages: ask('[[sandbox:echo one two three]]'),
      stream: true,
    })
    const chunks = await collect(stream)
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant')
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('one two three')
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['stop'])
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(chunks.every(({ usage }) => usage === undefined)).toBe(true)
  })

  test('with include_usage ends with one chunk of usage and cost, and has null usage before it', async () => {
    const stream = await client.chat.completions.create({
      model: MODEL,
      messages: ask('Hi'),
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await collect(stream)
    const last = chunks.pop()
    expect(last?.choices).toEqual([])
    expect(last?.usage).toMatchObject({ total_tokens: expect.any(Number), cost_usd: expect.any(Number) })
    expect(chunks.every(({ usage }) => usage === null)).toBe(true)
  })

  test('through the helper emits content events and assembles the final completion', async () => {
    const contents: string[] = []
    const events: string[] = []
    const stream = client.chat.completions
      .stream({
        model: MODEL,
        messages: ask('[[sandbox:echo one two three]]'),
        stream_options: { include_usage: true },
      })
      .on('connect', () => events.push('connect'))
      .on('content', (delta) => contents.push(delta))
      .on('content.done', ({ content }) => events.push(`done: ${content}`))
      .on('end', () => events.push('end'))
    const completion = await stream.finalChatCompletion()
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'one two three' },
    })
    expect(completion.usage?.total_tokens).toBeGreaterThan(0)
    expect(contents.length).toBeGreaterThan(1)
    expect(contents.join('')).toBe('one two three')
    await stream.done()
    expect(events).toEqual(['connect', 'done: one two three', 'end'])
  })

  test('through the helper can be iterated, and passed on as a readable stream', async () => {
    const request = { model: MODEL, messages: ask('[[sandbox:echo one two three]]') }
    const chunks = await collect(client.chat.completions.stream(request))
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('one two three')
    const lines = await collect(client.chat.completions.stream(request).toReadableStream())
    const relayed = Buffer.concat(lines.map((line) => Buffer.from(line)))
    expect(relayed.toString().trim().split('\n')).toHaveLength(chunks.length)
  })

  test('a stream with the OpenAI SDK of several choices is assembled by index', async () => {
    const completion = await client.chat.completions
      .stream({ model: MODEL, messages: ask('Tell me a story.'), n: 2 })
      .finalChatCompletion()
    const [first, second] = completion.choices.map(({ message }) => message.content)
    expect(first).toBeTruthy()
    expect(second).toBeTruthy()
    expect(second).not.toBe(first)
  })

  test('has reasoning as reasoning_content deltas before the answer', async () => {
    const stream = await client.chat.completions.create({
      model: REASONING_MODEL,
      messages: ask('Hi'),
      reasoning_effort: 'low',
      stream: true,
    })
    const kinds: string[] = []
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta
      if (delta && 'reasoning_content' in delta && delta.reasoning_content) kinds.push('reasoning')
      else if (delta?.content) kinds.push('content')
    }
    expect(kinds.indexOf('content')).toBe(kinds.lastIndexOf('reasoning') + 1)
    expect(kinds).toContain('reasoning')
    expect(kinds).toContain('content')
  })
})
