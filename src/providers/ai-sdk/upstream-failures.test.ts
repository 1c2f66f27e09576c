import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import {
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
import {
  googleChunk,
  googleContent,
  googleError,
  googleStream,
  startGoogleServer,
} from '../../../tests/upstreams/google-server.ts'
import type { ScriptedServer } from '../../../tests/upstreams/scripted-server.ts'
import type { Provider } from '../provider.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
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

const quick = { connectMs: 5_000, firstByteMs: 60, idleMs: 60 }

describe('an upstream that answers with an error', () => {
  test('is reported with its status, message and code, and nothing is retried', async () => {
    server.respondWith(
      anthropicError(400, 'invalid_request_error', 'messages: at least one message is required'),
    )
    expect(await failureOf(complete(provider, createCall({})))).toMatchObject({
      failure: 'status',
      provider: 'anthropic',
      status: 400,
      upstreamMessage: 'messages: at least one message is required',
      upstreamCode: 'invalid_request_error',
      isRetryable: false,
    })
    expect(server.requests).toHaveLength(1)
  })

  test('may be retried later if it is overloaded, streamed or not', async () => {
    server.respondWith(anthropicError(529, 'overloaded_error', 'Overloaded', { 'retry-after': '7' }))
    const expected = { failure: 'status', status: 529, retryAfterSeconds: 7, isRetryable: true }
    expect(await failureOf(complete(provider, createCall({})))).toMatchObject(expected)
    expect(await failureOf(openStream(provider, createCall({})))).toMatchObject(expected)
  })

  test('is an error before the stream if its first event is one', async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    server.respondWith(anthropicStream([overloaded]))
    expect(await failureOf(openStream(provider, createCall({})))).toMatchObject({
      failure: 'status',
      status: 529,
    })
  })

  test('reports that its context is too small', async () => {
    server.respondWith(
      anthropicError(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    )
    expect(await failureOf(complete(provider, createCall({})))).toMatchObject({
      upstreamCode: 'context_length_exceeded',
    })
  })

  test('has a limited message', async () => {
    server.respondWith(anthropicError(500, 'api_error', 'x'.repeat(10_000)))
    expect((await failureOf(complete(provider, createCall({})))).upstreamMessage).toHaveLength(2_048)
  })

  test('may state in its body how long to wait', async () => {
    const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33.2s' }
    googleServer.respondWith(googleError(429, 'RESOURCE_EXHAUSTED', 'You exceeded your quota.', [retryInfo]))
    expect(await failureOf(complete(google, createCall({})))).toMatchObject({
      status: 429,
      upstreamCode: 'RESOURCE_EXHAUSTED',
      retryAfterSeconds: 34,
    })
  })

  test('ends a stream after what it had sent, for every vendor', async () => {
    const broken = { type: 'error', error: { type: 'api_error', message: 'Internal server error' } }
    server.respondWith(anthropicStream([...partialText, broken], { isOnePacket: true }))
    const answer = await openStream(provider, createCall({}))
    const { chunks, error } = await collect(answer)
    expect(deltasOf(chunks)).toEqual([{ content: 'Once' }])
    expect(error).toBeInstanceOf(UpstreamError)
    expect(error).toMatchObject({
      details: { failure: 'status', status: 500, upstreamMessage: 'Internal server error' },
    })
    expect(answer.isTerminated()).toBe(false)
    const googleBroken = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    googleServer.respondWith(
      googleStream([googleChunk([{ text: 'Once' }], { finishReason: undefined }), googleBroken]),
    )
    const collected = await collect(await openStream(google, createCall({})))
    expect(deltasOf(collected.chunks)).toEqual([{ content: 'Once' }])
    expect(collected.error).toMatchObject({ details: { failure: 'status', status: 503 } })
  })
})

describe('a request that the vendor does not support', () => {
  test('is refused with the invalid part', async () => {
    const content = [{ type: 'image_url' as const, image_url: { url: 'ftp://example.com/a.png' } }]
    expect(
      await failureOf(complete(provider, createCall({ messages: [{ role: 'user', content }] }))),
    ).toMatchObject({
      failure: 'status',
      status: 400,
      upstreamParam: 'messages.0.content.0',
      isRetryable: false,
    })
    expect(server.requests).toHaveLength(0)
  })

  test('is refused if its media type is not accepted', async () => {
    const content = [{ type: 'input_audio' as const, input_audio: { data: 'UklGRg==', format: 'wav' } }]
    expect(
      await failureOf(complete(provider, createCall({ messages: [{ role: 'user', content }] }))),
    ).toMatchObject({
      status: 400,
      upstreamMessage: expect.stringContaining('audio/wav'),
    })
  })
})

describe('a failed connection', () => {
  test('is a connect failure if no server listens', async () => {
    const listener = createServer()
    await new Promise<void>((resolve) => {
      listener.listen(0, '127.0.0.1', resolve)
    })
    const { port } = listener.address() as AddressInfo
    await new Promise((resolve) => {
      listener.close(resolve)
    })
    const lost = createAnthropicProvider({ apiKeys: ['k'], baseUrl: `http://127.0.0.1:${port}/v1` })
    expect(await failureOf(complete(lost, createCall({})))).toMatchObject({
      failure: 'connect',
      isRetryable: true,
    })
  })

  test('is a timeout if the upstream does not answer or stops sending', async () => {
    server.respondWith(() => new Promise(() => {}))
    expect(await failureOf(complete(provider, createCall({}, { timeouts: quick })))).toMatchObject({
      failure: 'timeout',
    })
    server.respondWith(anthropicStream([], { ending: 'hang' }))
    expect(await failureOf(openStream(provider, createCall({}, { timeouts: quick })))).toMatchObject({
      failure: 'timeout',
    })
    server.respondWith(anthropicStream(partialText, { ending: 'hang', isOnePacket: true }))
    const patientAtFirst = { ...quick, firstByteMs: 10_000 }
    const { chunks, error } = await collect(
      await openStream(provider, createCall({}, { timeouts: patientAtFirst })),
    )
    expect(deltasOf(chunks)).toEqual([{ content: 'Once' }])
    expect(error).toMatchObject({ details: { failure: 'timeout' } })
    await server.requests.at(-1)?.abandoned
  })

  test('is a timeout if it sends only comments, before or after the first text', async () => {
    async function* comments(): AsyncGenerator<string> {
      for (;;) {
        yield ': still thinking\n\n'
        await setTimeout(10)
      }
    }
    const timeouts = { ...quick, firstByteMs: 500, idleMs: 500 }
    for (const events of [[], partialText]) {
      server.respondWith({ ...anthropicStream(events, { ending: 'hang' }), more: comments() })
      const call = createCall({}, { timeouts })
      const failure =
        events.length === 0
          ? await failureOf(openStream(provider, call))
          : (await collect(await openStream(provider, call))).error
      expect(failure).toMatchObject(
        events.length === 0 ? { failure: 'timeout' } : { details: { failure: 'timeout' } },
      )
      await server.requests.at(-1)?.abandoned
    }
  })

  test('is a cut if it breaks in the middle, before or after the first text', async () => {
    server.respondWith({ headers: { 'content-type': 'application/json' }, chunks: ['{"id":'], ending: 'cut' })
    expect(await failureOf(complete(provider, createCall({})))).toMatchObject({ failure: 'cut' })
    server.respondWith(anthropicStream([anthropicMessageStart()], { ending: 'cut' }))
    expect(await failureOf(openStream(provider, createCall({})))).toMatchObject({ failure: 'cut' })
    server.respondWith(anthropicStream(partialText, { ending: 'cut' }))
    const { chunks, error } = await collect(await openStream(provider, createCall({})))
    expect(deltasOf(chunks)).toEqual([{ content: 'Once' }])
    expect(error).toMatchObject({ details: { failure: 'cut' } })
  })

  test('is a cut if the stream ends normally but too early', async () => {
    server.respondWith(anthropicStream(partialText))
    const { error } = await collect(await openStream(provider, createCall({})))
    expect(error).toMatchObject({ details: { failure: 'cut' } })
    googleServer.respondWith(googleStream([googleChunk([{ text: 'Once' }], { finishReason: undefined })]))
    const collected = await collect(await openStream(google, createCall({})))
    expect(collected.error).toMatchObject({ details: { failure: 'cut' } })
  })

  test('is reused for the next call after a success', async () => {
    for (let calls = 0; calls < 8; calls += 1) {
      server.respondWith(anthropicStream(anthropicTextEvents('Hello there')))
      await collect(await openStream(provider, createCall({})))
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    expect(new Set(server.requests.map((request) => request.connection)).size).toBeLessThan(8)
  })
})

describe('an upstream that sends an invalid answer', () => {
  const page = { headers: { 'content-type': 'text/html' }, chunks: ['<html>Bad day</html>'] }

  test('is detected, streamed or not', async () => {
    server.respondWith(page)
    expect(await failureOf(complete(provider, createCall({})))).toMatchObject({
      failure: 'invalid_answer',
      isRetryable: true,
    })
    expect(await failureOf(openStream(provider, createCall({})))).toMatchObject({ failure: 'invalid_answer' })
    server.respondWith({ headers: { 'content-type': 'text/event-stream' }, chunks: ['data: {"type":\n\n'] })
    expect(await failureOf(openStream(provider, createCall({})))).toMatchObject({ failure: 'invalid_answer' })
    server.respondWith({ ...page, status: 502 })
    expect(await failureOf(complete(provider, createCall({})))).toMatchObject({
      failure: 'status',
      status: 502,
    })
    server.respondWith({ status: 307, headers: { location: 'http://127.0.0.1/' }, chunks: [] })
    expect(await failureOf(complete(provider, createCall({})))).toMatchObject({ failure: 'invalid_answer' })
  })

  test('is detected mid-stream', async () => {
    const reply = anthropicStream(partialText)
    server.respondWith({ ...reply, chunks: [...reply.chunks, 'data: not json\n\n'] })
    const { chunks, error } = await collect(await openStream(provider, createCall({})))
    expect(deltasOf(chunks)).toEqual([{ content: 'Once' }])
    expect(error).toMatchObject({ details: { failure: 'invalid_answer' } })
  })

  test('has a limited size of answers and events', async () => {
    const limits = { completeBytesMax: 1_000, streamBytesMax: 10_000, eventBytesMax: 1_000 }
    const bounded = createAnthropicProvider({ apiKeys: ['k'], baseUrl: server.baseUrl, limits })
    server.respondWith(anthropicMessage({ content: [{ type: 'text', text: 'x'.repeat(2_000) }] }))
    expect(await failureOf(complete(bounded, createCall({})))).toMatchObject({ failure: 'invalid_answer' })
    server.respondWith(anthropicStream(anthropicTextEvents('x'.repeat(2_000)), { ending: 'hang' }))
    expect(await failureOf(openStream(bounded, createCall({})))).toMatchObject({ failure: 'invalid_answer' })
    server.respondWith(anthropicStream(anthropicTextEvents('word '.repeat(200)), { ending: 'hang' }))
    const { error } = await collect(await openStream(bounded, createCall({})))
    expect(error).toMatchObject({ details: { failure: 'invalid_answer' } })
  })
})
