import { Cancellation } from '../../kernel/cancellation.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import {
  anthropicBlock,
  anthropicError,
  anthropicMessage,
  anthropicMessageStart,
  anthropicStream,
  anthropicTextEvents,
  startAnthropicServer,
} from '../../../tests/upstreams/anthropic-server.ts'
import {
  collect,
  complete,
  createCall,
  deltasOf,
  failureOf,
  openStream,
} from '../../../tests/upstreams/call-provider.ts'
import { googleContent, startGoogleServer } from '../../../tests/upstreams/google-server.ts'
import type { ScriptedServer } from '../../../tests/upstreams/scripted-server.ts'
import type { Provider } from '../provider.ts'
import { createAnthropicProvider } from './vendors/anthropic-provider.ts'
import { createGoogleProvider } from './vendors/google-provider.ts'

let server: ScriptedServer
let googleServer: ScriptedServer
let provider: Provider
let google: Provider

beforeAll(async () => {
  server = await startAnthropicServer()
  googleServer = await startGoogleServer()
})

beforeEach(() => {
  server.requests.length = 0
  server.respondWith(anthropicMessage({ content: [{ type: 'text', text: 'Hello there' }] }))
  googleServer.respondWith(googleContent([{ text: 'Hello there' }]))
  provider = createAnthropicProvider({ apiKeys: ['sk-ant-1'], baseUrl: server.baseUrl })
  google = createGoogleProvider({ apiKeys: ['AIza-1'], baseUrl: googleServer.baseUrl })
})

afterAll(async () => {
  await server.close()
  await googleServer.close()
})

const partialText = [
  anthropicMessageStart(),
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Once' } },
]

test('a provider without a key is not configured', () => {
  expect(createAnthropicProvider({ apiKeys: [] }).isConfigured).toBe(false)
  expect(provider).toMatchObject({ id: 'anthropic', isConfigured: true })
  expect(google).toMatchObject({ id: 'google', isConfigured: true })
})

describe('a cancelled call', () => {
  test('is aborted at the upstream at once, before and during the answer', async () => {
    const reason = new Error('the client left')
    for (const reply of [() => new Promise<never>(() => {}), anthropicStream([], { ending: 'hang' })]) {
      server.requests.length = 0
      server.respondWith(reply)
      const cancellation = new Cancellation()
      const answer = openStream(provider, createCall({}, { cancellation }))
      await expect.poll(() => server.requests.length).toBe(1)
      cancellation.cancel(reason)
      await expect(answer).rejects.toBe(reason)
      await server.requests[0]?.abandoned
    }
  })

  test('is aborted at the upstream mid-stream', async () => {
    const reason = new Error('the client left')
    server.respondWith(anthropicStream(partialText, { ending: 'hang' }))
    const cancellation = new Cancellation()
    const answer = await openStream(provider, createCall({}, { cancellation }))
    const iterator = answer.batches[Symbol.asyncIterator]()
    await iterator.next()
    cancellation.cancel(reason)
    await expect(iterator.next()).rejects.toBe(reason)
    await server.requests[0]?.abandoned
  })

  test('is aborted at the upstream when the iteration stops', async () => {
    server.respondWith(anthropicStream(partialText, { ending: 'hang' }))
    const answer = await openStream(provider, createCall({ n: 2 }))
    for await (const batch of answer.batches) {
      expect(batch.length).toBeGreaterThan(0)
      break
    }
    await Promise.all(server.requests.map((request) => request.abandoned))
    expect(server.requests).toHaveLength(2)
  })

  test('is not sent if it was cancelled before', async () => {
    const reason = new Error('the client left')
    const cancellation = new Cancellation()
    cancellation.cancel(reason)
    await expect(complete(provider, createCall({}, { cancellation }))).rejects.toBe(reason)
    expect(server.requests).toHaveLength(0)
  })
})

describe('several choices', () => {
  test('are several calls with one usage, each with its own seed', async () => {
    const answer = await complete(google, createCall({ n: 3, seed: 5 }))
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2])
    expect(answer.usage).toMatchObject({ prompt_tokens: 27, completion_tokens: 12, total_tokens: 39 })
    const seeds = googleServer.requests.slice(-3).map((request) => request.body)
    expect(new Set(seeds.map((body) => JSON.stringify(body))).size).toBe(3)
  })

  test('are streamed side by side, then one usage', async () => {
    server.respondWith(anthropicStream(anthropicTextEvents('Hello there')))
    const { chunks, error } = await collect(await openStream(provider, createCall({ n: 2 })))
    expect(error).toBeUndefined()
    for (const index of [0, 1]) {
      expect(deltasOf(chunks, index)).toEqual([{ content: 'Hello ' }, { content: 'there' }])
    }
    expect(chunks.filter((chunk) => chunk.usage?.prompt_tokens !== undefined)).toHaveLength(1)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 24, completion_tokens: 12 } })
  })

  test('fail together, and the others are aborted', async () => {
    const bothArrived = Promise.withResolvers<void>()
    server.respondWith(
      async () => {
        await bothArrived.promise
        return anthropicError(500, 'api_error', 'Internal server error')
      },
      () => {
        bothArrived.resolve()
        return anthropicStream(partialText, { ending: 'hang' })
      },
    )
    expect(await failureOf(openStream(provider, createCall({ n: 2 })))).toMatchObject({ status: 500 })
    await server.requests[1]?.abandoned
  })
})

describe('several keys', () => {
  const keysUsed = () => server.requests.map((request) => request.headers['x-api-key'])
  const createTwoKeyed = () => createAnthropicProvider({ apiKeys: ['k1', 'k2'], baseUrl: server.baseUrl })

  test('are used in turn', async () => {
    const twoKeyed = createTwoKeyed()
    for (let calls = 0; calls < 3; calls += 1) await complete(twoKeyed, createCall({}))
    expect(keysUsed()).toEqual(['k1', 'k2', 'k1'])
  })

  test.each([401, 403, 429])('replace a key that is answered %i, which then rests', async (status) => {
    const twoKeyed = createTwoKeyed()
    server.respondWith(
      anthropicError(status, 'some_error', 'No'),
      anthropicMessage({ content: [{ type: 'text', text: 'Yes' }] }),
    )
    expect((await complete(twoKeyed, createCall({}))).choices[0]?.message.content).toBe('Yes')
    await complete(twoKeyed, createCall({}))
    expect(keysUsed()).toEqual(['k1', 'k2', 'k2'])
  })

  test('are each tried once if all are refused', async () => {
    server.respondWith(anthropicError(429, 'rate_limit_error', 'Slow down', { 'retry-after': '2' }))
    expect(await failureOf(complete(createTwoKeyed(), createCall({})))).toMatchObject({
      status: 429,
      retryAfterSeconds: 2,
    })
    expect(keysUsed()).toEqual(['k1', 'k2'])
  })
})

test('a message that arrives in one packet is returned in one batch', async () => {
  server.respondWith(anthropicStream(anthropicTextEvents('one two three four'), { isOnePacket: true }))
  const answer = await openStream(provider, createCall({}))
  let batches = 0
  for await (const batch of answer.batches) batches += batch.length > 0 ? 1 : 0
  expect(batches).toBeLessThanOrEqual(4)
})

test('an upstream that does not close after its last event does not keep the stream open', async () => {
  server.respondWith(anthropicStream(anthropicTextEvents('Hello there'), { ending: 'hang' }))
  const answer = await openStream(provider, createCall({}))
  const { error } = await collect(answer)
  expect(error).toBeUndefined()
  expect(answer.isTerminated()).toBe(true)
  await server.requests[0]?.abandoned
})

test('a stream with reasoning but no text is delivered', async () => {
  const events = [
    anthropicMessageStart(),
    ...anthropicBlock(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: 'Hm' },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ]
  server.respondWith(anthropicStream(events))
  const { chunks } = await collect(await openStream(provider, createCall({ think: true })))
  expect(deltasOf(chunks)).toEqual([{ reasoning_content: 'Hm' }])
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('length')
})

test('a client that reads slowly loses nothing', async () => {
  server.respondWith(anthropicStream(anthropicTextEvents('one two three four')))
  const answer = await openStream(provider, createCall({}))
  const texts: string[] = []
  for await (const batch of answer.batches) {
    texts.push(...batch.map(String))
    for (let turns = 0; turns < 50; turns += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
  }
  expect(texts.join('')).toMatch(/one .*two .*three .*four.*"finish_reason":"stop".*"usage":\{/)
  expect(answer.isTerminated()).toBe(true)
})
