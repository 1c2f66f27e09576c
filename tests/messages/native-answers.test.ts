import Anthropic, { RateLimitError } from '@anthropic-ai/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import { eventually } from '../support/eventually.ts'
import {
  anthropicBlock,
  anthropicError,
  anthropicMessage,
  anthropicMessageEnd,
  anthropicMessageStart,
  anthropicStream,
  anthropicTextEvents,
  type AnthropicEvent,
} from '../upstreams/anthropic-server.ts'
import { chunksOf, stream } from '../upstreams/openai-server.ts'
import { MESSAGES, messagesBody, parseNamedEvents } from './start-messages-gateway.ts'
import { startNativeGateway, type NativeGateway } from './start-native-gateway.ts'

let gateway: NativeGateway

beforeAll(async () => {
  gateway = await startNativeGateway({ PARKWAY_DRAINS_MAX: '0' })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.anthropic.requests.length = 0
  gateway.upstream.requests.length = 0
})

const send = (members: object = {}) =>
  gateway.request('POST', MESSAGES, { body: messagesBody({ model: 'claude', ...members }) })

async function streamed(events: readonly AnthropicEvent[], members: object = {}) {
  gateway.anthropic.respondWith(anthropicStream(events))
  const body = messagesBody({ model: 'claude', stream: true, ...members })
  const response = await gateway.fetch('POST', MESSAGES, { body })
  return { response, events: parseNamedEvents(await response.text()) }
}

async function chargeOf(requestId: string | null) {
  return eventually(async () => {
    const { body } = await gateway.request('GET', '/v1/usage/records?limit=5')
    const record = body.data.find(({ request_id: id }: { request_id: string }) => id === requestId)
    expect(record).toBeDefined()
    return record
  })
}

describe('a complete message', () => {
  test('keeps unknown members, and has our model and cost', async () => {
    const content = [
      { type: 'hologram', depth: 3 },
      { type: 'text', text: 'Hello', citations: [{ type: 'new_citation' }] },
    ]
    const usage = { input_tokens: 12, output_tokens: 6, service_tier: 'standard', future: { x: 1 } }
    gateway.anthropic.respondWith(anthropicMessage({ content, usage }))
    const { status, body, headers } = await send()
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'anthropic'])
    expect(body).toEqual({
      id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      stop_reason: 'end_turn',
      stop_sequence: null,
      content,
      usage: {
        ...usage,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cost_usd: (12 + 60) / 1e6,
      },
    })
  })

  test('charges cached tokens at their price, and a summary that the vendor made', async () => {
    const summary = { type: 'compaction', input_tokens: 1000, output_tokens: 100 }
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 2000,
      output_tokens: 5,
      iterations: [summary, { type: 'message', input_tokens: 10, output_tokens: 5 }],
    }
    gateway.anthropic.respondWith(anthropicMessage({ content: [{ type: 'text', text: 'Hi' }], usage }))
    const { body, headers } = await send()
    const costUsd = (10 + 1000 + 2000 * 0.1 + (5 + 100) * 10) / 1e6
    expect(body.usage).toMatchObject({ ...usage, cost_usd: costUsd })
    expect(await chargeOf(headers.get('x-request-id'))).toMatchObject({ cost_usd: costUsd })
  })

  test('a complete message that is invalid is the fault of the provider', async () => {
    gateway.anthropic.respondWith({
      headers: { 'content-type': 'application/json' },
      chunks: ['{"type":"joke"}'],
    })
    expect((await send()).status).toBe(502)
  })
})

describe('a stream', () => {
  test('passes every event, also unknown ones, with our model and the cost at its end', async () => {
    const upstream: AnthropicEvent[] = [
      { type: 'ping' },
      anthropicMessageStart({ input_tokens: 12, output_tokens: 1, future: 1 }),
      ...anthropicBlock(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'signature_delta', signature: 'sig' },
      ]),
      { type: 'ping' },
      { type: 'weather_report', sunny: true },
      ...anthropicBlock(1, { type: 'hologram' }, [{ type: 'hologram_delta', light: 'ÿ' }]),
      ...anthropicBlock(2, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Hello' }]),
      { type: 'message_delta', delta: { container: null }, usage: { output_tokens: 3 } },
      ...anthropicMessageEnd('end_turn', { output_tokens: 6 }),
    ]
    const { events, response } = await streamed(upstream)
    const [, start, ...rest] = upstream
    expect(events[0]?.data).toMatchObject({
      type: 'message_start',
      message: { model: 'claude', id: expect.stringMatching(/^msg_/), usage: { future: 1 } },
    })
    expect(start).toBeDefined()
    expect(events.slice(1, -2).map(({ data }) => data)).toEqual(rest.slice(0, -2))
    expect(events.slice(-2).map(({ data }) => data)).toEqual([
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: expect.objectContaining({ input_tokens: 12, output_tokens: 6, cost_usd: (12 + 60) / 1e6 }),
      },
      { type: 'message_stop' },
    ])
    expect(await chargeOf(response.headers.get('x-request-id'))).toMatchObject({
      operation: 'messages',
      cost_usd: (12 + 60) / 1e6,
    })
  })

  test('falls back before its first event', async () => {
    gateway.anthropic.respondWith(
      anthropicStream([
        { type: 'ping' },
        { type: 'error', error: { type: 'overloaded_error', message: 'no' } },
      ]),
    )
    gateway.upstream.respondWith(stream(chunksOf('Hello')))
    const body = messagesBody({ model: 'either', stream: true })
    const moved = await gateway.fetch('POST', MESSAGES, { body })
    expect(parseNamedEvents(await moved.text()).at(-1)?.name).toBe('message_stop')
    expect(moved.headers.get('x-gateway-provider')).toBe('openai')
  })

  test('a stream that fails after its first event ends with the wire’s error', async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
    const failure = { type: 'error', error: { type: 'overloaded_error', message: 'no' } }
    gateway.anthropic.respondWith({
      ...anthropicStream([anthropicMessageStart()]),
      more: (async function* () {
        await isRead
        yield* anthropicStream([failure]).chunks
      })(),
    })
    const body = messagesBody({ model: 'either', stream: true })
    const response = readPieces(await gateway.fetch('POST', MESSAGES, { body }))
    await response.until(/message_start/)
    read()
    const events = parseNamedEvents(await response.until(/event: error\n.*\n\n/))
    expect(events.map(({ name }) => name)).toEqual(['message_start', 'error'])
    expect(events[1]?.data.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' })
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('does not wait for a connection that stays open after the last event', async () => {
    gateway.anthropic.respondWith(anthropicStream(anthropicTextEvents('Hello'), { ending: 'hang' }))
    const body = messagesBody({ model: 'claude', stream: true })
    const response = await gateway.fetch('POST', MESSAGES, { body })
    expect(parseNamedEvents(await response.text()).at(-1)?.name).toBe('message_stop')
  })

  test.each([
    ['begins twice', [anthropicMessageStart(), anthropicMessageStart()]],
    ['begins in the middle', [...anthropicBlock(0, { type: 'text', text: '' }, [])]],
  ])('a stream that %s is not passed on', async (_name, upstream) => {
    const { response, events } = await streamed(upstream).catch(() => ({ response: null, events: [] }))
    if (response?.status === 200) expect(events.at(-1)?.name).toBe('error')
    expect(events.filter(({ name }) => name === 'message_start').length).toBeLessThanOrEqual(1)
  })

  test('a stream that is cut at any byte ends with the wire’s error', async () => {
    const whole = anthropicTextEvents('Hello there')
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('')
    const headers = { 'content-type': 'text/event-stream' }
    // After the end of the model's answer, the client needs nothing more, so a cut there is no error.
    const finishedAt = whole.indexOf('event: message_stop')
    const firstFrame = whole.indexOf('\n\n')
    // Large steps before the first event, because the gateway retries these requests, with delays.
    for (let at = 50; at < finishedAt - 2; at += at < firstFrame ? 100 : 3) {
      gateway.anthropic.respondWith({ headers, chunks: [whole.slice(0, at)], ending: 'cut' })
      const body = messagesBody({ model: 'claude', stream: true })
      const response = await gateway.fetch('POST', MESSAGES, { body })
      if (response.status !== 200) {
        expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } })
        continue
      }
      const events = parseNamedEvents(await response.text())
      expect([at, events[0]?.name, events.at(-1)?.name]).toEqual([at, 'message_start', 'error'])
    }
  })

  test('a stream whose client disconnects and whose vendor does not end is charged the most that it may have written', async () => {
    gateway.anthropic.respondWith(
      anthropicStream(anthropicTextEvents('Hello there').slice(0, -3), { ending: 'hang' }),
    )
    const body = messagesBody({ model: 'claude', stream: true, max_tokens: 10 })
    const controller = new AbortController()
    const response = await gateway.fetch('POST', MESSAGES, { body, signal: controller.signal })
    await readPieces(response).until(/there/)
    controller.abort()
    await (
      await gateway.anthropic.requestNumber(0)
    ).abandoned
    expect(await chargeOf(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'disconnected',
      prompt_tokens: 12,
      completion_tokens: 10,
    })
  })
})

describe('the official SDK', () => {
  const client = () =>
    new Anthropic({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0, defaultHeaders: {} })

  test('streams tools and reasoning, and reads errors as their classes', async () => {
    gateway.anthropic.respondWith(
      anthropicStream([
        anthropicMessageStart(),
        ...anthropicBlock(0, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }, [
          { type: 'input_json_delta', partial_json: '{"at":' },
          { type: 'input_json_delta', partial_json: '"sky"}' },
        ]),
        ...anthropicMessageEnd('tool_use'),
      ]),
    )
    const answer = client().messages.stream({
      model: 'claude',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Look' }],
    })
    expect((await answer.finalMessage()).content).toMatchObject([{ name: 'look', input: { at: 'sky' } }])

    gateway.anthropic.respondWith(
      anthropicError(429, 'rate_limit_error', 'slow down', { 'retry-after': '9' }),
    )
    const failure = client().messages.create({
      model: 'claude',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    await expect(failure).rejects.toBeInstanceOf(RateLimitError)
  })
})
