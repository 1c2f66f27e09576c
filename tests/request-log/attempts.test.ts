import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, completion, failure, stream, type Reply } from '../upstreams/openai-server.ts'

let gateway: ChatGateway

beforeAll(async () => {
  const route = (provider: string, priority: number) => ({ provider, model: `${provider}-name`, priority })
  gateway = await startChatGateway({
    models: [
      modelEntry('ordered', [route('vllm', 0), route('ollama', 1)], { aliases: ['nickname'] }),
      modelEntry('single', [route('together', 0)]),
    ],
    providers: ['vllm', 'ollama', 'together'],
  })
})

afterAll(async () => {
  await gateway.close()
})

/** Sets the replies of each provider, in order; the last one repeats. */
function replyWith(replies: Record<string, readonly Reply[]>): void {
  const left = new Map(Object.entries(replies).map(([provider, list]) => [provider, [...list]]))
  gateway.upstream.respondWith(async (request) => {
    const list = left.get(request.path.split('/')[1] ?? '') ?? []
    const reply = (list.length > 1 ? list.shift() : list[0]) ?? completion()
    return typeof reply === 'function' ? reply(request) : reply
  })
}

async function ask(members: object) {
  const response = await gateway.fetch('POST', CHAT, { body: chatBody(members) })
  await response.text()
  const requestId = response.headers.get('x-request-id') ?? ''
  const { status, body } = await gateway.request('GET', `/v1/requests/${requestId}`)
  expect([status, body.request_id]).toEqual([200, requestId])
  return body
}

describe('a logged request', () => {
  test('has the attempt that answered', async () => {
    replyWith({})
    const request = await ask({ model: 'ordered', user: 'ada@example.com' })
    expect(request).toMatchObject({
      requested_model: 'ordered',
      model: 'ordered',
      provider: 'vllm',
      outcome: 'completed',
      http_status: 200,
      error_code: null,
      stream: false,
      ttft_ms: null,
      attempt_count: 1,
      fallback: false,
      user: 'ada@example.com',
    })
    const [attempt] = request.attempts
    expect(request.attempts).toEqual([
      {
        number: 1,
        provider: 'vllm',
        model: 'vllm-name',
        reason: 'first',
        started_ms: attempt.started_ms,
        duration_ms: attempt.duration_ms,
        outcome: 'answered',
        http_status: null,
      },
    ])
    expect(request.timings).toEqual({
      queue_ms: attempt.started_ms,
      upstream_ms: attempt.duration_ms,
      ttft_ms: null,
      streaming_ms: null,
      total_ms: request.latency_ms,
    })
    expect(attempt.started_ms + attempt.duration_ms).toBeLessThanOrEqual(request.latency_ms + 1)
  })

  test('shows the alias that was asked for, and a stream', async () => {
    replyWith({ vllm: [stream(chunksOf('Hello there'))] })
    const request = await ask({ model: 'nickname', stream: true })
    expect(request).toMatchObject({ requested_model: 'nickname', model: 'ordered', stream: true })
    expect(request.timings.streaming_ms).toBe(request.latency_ms - request.ttft_ms)
  })

  test('shows which provider failed, and which one answered instead', async () => {
    replyWith({ vllm: [failure(500)] })
    const request = await ask({ model: 'ordered' })
    expect(request).toMatchObject({ provider: 'ollama', attempt_count: 2, fallback: true })
    expect(request.attempts).toMatchObject([
      {
        number: 1,
        provider: 'vllm',
        model: 'vllm-name',
        reason: 'first',
        outcome: 'status',
        http_status: 500,
      },
      { number: 2, provider: 'ollama', model: 'ollama-name', reason: 'fallback', outcome: 'answered' },
    ])
    expect(request.attempts[1].started_ms).toBeGreaterThanOrEqual(request.attempts[0].started_ms)
  })

  test('shows a retry of the same provider', async () => {
    replyWith({ together: [failure(503), completion()] })
    const request = await ask({ model: 'single' })
    expect(request).toMatchObject({ provider: 'together', attempt_count: 2, fallback: false })
    expect(request.attempts.map(({ reason }: { reason: string }) => reason)).toEqual(['first', 'retry'])
  })

  test('shows why a stream failed in the middle', async () => {
    replyWith({ together: [stream(chunksOf('Hello there').slice(0, 3), { ending: 'cut' })] })
    const request = await ask({ model: 'single', stream: true })
    expect(request).toMatchObject({ outcome: 'failed', http_status: 200, error_code: 'provider_error' })
    const { body } = await gateway.request('GET', '/v1/requests?error_code=provider_error')
    expect(body.data.map(({ id }: { id: string }) => id)).toContain(request.id)
  })
})
