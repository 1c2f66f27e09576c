import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunksOf,
  completion,
  failure,
  htmlPage,
  notHttp,
  refusedUrl,
  silence,
  stream,
  type Reply,
} from '../upstreams/openai-server.ts'
import { readEvents } from './read-events.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const [vllm, ollama, together, lmstudio] = ['vllm', 'ollama', 'together', 'lmstudio'].map((provider) => ({
  provider,
  model: `${provider}-name`,
}))

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      modelEntry('ordered', [
        { ...ollama, priority: 2 },
        { ...vllm, priority: 1 },
      ]),
      modelEntry('weighted', [
        { ...vllm, priority: 0, weight: 3 },
        { ...ollama, priority: 0, weight: 1 },
      ]),
      modelEntry('unreachable-first', [
        { ...lmstudio, priority: 0 },
        { ...ollama, priority: 1 },
      ]),
      modelEntry('unreachable', [{ ...lmstudio }]),
      modelEntry('slow-first', [
        { ...vllm, priority: 0, timeouts: { first_byte_ms: 150 } },
        { ...ollama, priority: 1 },
      ]),
      modelEntry('unconfigured-first', [
        { provider: 'groq', model: 'x', priority: 0 },
        { ...ollama, priority: 1 },
      ]),
      modelEntry('on-vllm', [{ ...vllm }]),
      modelEntry('on-ollama', [{ ...ollama }]),
      modelEntry('fragile', [{ ...together }]),
      // Each at a provider of its own, because a refused key rests for all models.
      modelEntry('one-key-refused', [{ provider: 'fireworks', model: 'm' }]),
      modelEntry('all-keys-refused', [{ provider: 'deepseek', model: 'm' }]),
    ],
    providers: ['vllm', 'ollama', 'together', 'fireworks', 'deepseek'],
    settings: {
      LMSTUDIO_BASE_URL: await refusedUrl(),
      FIREWORKS_API_KEY: 'key-one, key-two,key-three',
      DEEPSEEK_API_KEY: 'key-one, key-two,key-three',
    },
  })
})

afterAll(async () => {
  await gateway.close()
})

/** Gets one good answer from each upstream, so that no test inherits the failures of another. */
beforeEach(async () => {
  replyWith({})
  for (const model of ['on-vllm', 'on-ollama', 'gpt-4o-mini']) expect((await ask(model)).status).toBe(200)
  gateway.upstream.requests.length = 0
})

/** Sets the replies of each provider, in order; the last one repeats. Providers that are not listed answer with success. */
function replyWith(replies: Record<string, readonly Reply[]>): void {
  const left = new Map(Object.entries(replies).map(([provider, list]) => [provider, [...list]]))
  gateway.upstream.respondWith(async (request) => {
    const provider = request.path.split('/')[1] ?? ''
    const list = left.get(provider) ?? []
    const reply = (list.length > 1 ? list.shift() : list[0]) ?? completion()
    return typeof reply === 'function' ? reply(request) : reply
  })
}

const ask = (model: string, members: object = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) })
const asked = () => gateway.upstream.requests.map(({ path }) => path.split('/')[1])
const metricsText = async () => (await gateway.request('GET', '/metrics', { key: null })).body as string

describe('several routes', () => {
  test('the lowest priority is tried first, with that upstream’s name of the model', async () => {
    const { headers, body } = await ask('ordered')
    expect([headers.get('x-gateway-provider'), body.model]).toEqual(['vllm', 'ordered'])
    expect(gateway.upstream.bodies()).toMatchObject([{ model: 'vllm-name' }])
  })

  test('routes whose provider is not configured are skipped', async () => {
    const { status, headers } = await ask('unconfigured-first')
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'ollama'])
  })

  test('equal routes share the load by weight', async () => {
    const counts = { vllm: 0, ollama: 0 }
    for (let count = 0; count < 80; count += 1) {
      const provider = (await ask('weighted')).headers.get('x-gateway-provider')
      if (provider === 'vllm' || provider === 'ollama') counts[provider] += 1
    }
    // 60 are expected; the chance of 40 or fewer is about one in a million.
    expect(counts.vllm).toBeGreaterThan(40)
    expect(counts.ollama).toBeGreaterThan(0)
    expect(counts.vllm + counts.ollama).toBe(80)
  })

  test.each<[string, Reply]>([
    ['500', failure(500)],
    ['503 with a page', htmlPage(503)],
    ['429', failure(429)],
    ['408', failure(408)],
    ['401', failure(401)],
    ['404', failure(404)],
    ['a closed connection', { chunks: [], ending: 'cut' }],
    ['something that is not HTTP', notHttp],
    ['an error with status 200', failure(200)],
  ])('the next route answers after %s, without a pause', async (_name, reply) => {
    replyWith({ vllm: [reply] })
    const { status, headers, body } = await ask('ordered')
    expect([status, headers.get('x-gateway-provider'), body.model]).toEqual([200, 'ollama', 'ordered'])
    expect(asked()).toEqual(['vllm', 'ollama'])
    expect(gateway.upstream.bodies()[1].model).toBe('ollama-name')
  })

  test('the next route answers if the first cannot be reached', async () => {
    const { status, headers } = await ask('unreachable-first')
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'ollama'])
  })

  test('502 if the only route cannot be reached', async () => {
    const { status, body } = await ask('unreachable')
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect(body.error.message).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/)
  })

  test('the next route answers if the first exceeds its own timeout', async () => {
    replyWith({ vllm: [silence] })
    const { status, headers } = await ask('slow-first')
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'ollama'])
    expect(asked()).toEqual(['vllm', 'ollama'])
    await gateway.upstream.requests[0]?.abandoned
  })

  test.each([false, true])(
    'a stream moves to the next route too (error as first event: %s)',
    async (isEvent) => {
      replyWith({
        vllm: [isEvent ? stream([{ error: { message: 'x' } }]) : failure(500)],
        ollama: [stream(chunksOf('Hello'))],
      })
      const response = await gateway.fetch('POST', CHAT, {
        body: chatBody({ model: 'ordered', stream: true }),
      })
      expect(response.headers.get('x-gateway-provider')).toBe('ollama')
      expect((await readEvents(response)).content).toBe('Hello')
    },
  )

  test('after a 400 no other route is tried', async () => {
    replyWith({ vllm: [failure(400, { message: 'no such thing' })] })
    const { status, body } = await ask('ordered')
    expect([status, body.error.message]).toEqual([400, 'no such thing'])
    expect(asked()).toEqual(['vllm'])
  })

  test('after all routes have failed they are tried again, a limited number of times', async () => {
    replyWith({ vllm: [failure(500)], ollama: [failure(500)] })
    const { status } = await ask('ordered')
    expect(status).toBe(502)
    expect(asked()).toEqual(['vllm', 'ollama', 'vllm'])
  })

  test('attempts, retries and fallbacks are in the metrics', async () => {
    replyWith({ vllm: [failure(503)], ollama: [failure(500)] })
    const before = await metricsText()
    expect((await ask('ordered')).status).toBe(502)
    const after = await metricsText()
    const grown = (series: string) => valueOf(after, series) - valueOf(before, series)
    expect(grown('parkway_upstream_attempts_total{provider="vllm",outcome="status"}')).toBe(2)
    expect(grown('parkway_upstream_attempts_total{provider="ollama",outcome="status"}')).toBe(1)
    expect(grown('parkway_upstream_errors_total{provider="vllm",failure="status",status="503"}')).toBe(2)
    expect(grown('parkway_upstream_fallbacks_total{from="vllm",to="ollama"}')).toBe(1)
    expect(grown('parkway_upstream_fallbacks_total{from="ollama",to="vllm"}')).toBe(1)
  })
})

describe('one route', () => {
  test('is tried again after a pause, and the retries are counted', async () => {
    replyWith({ v1: [failure(500), failure(500), completion()] })
    const before = await metricsText()
    const { status } = await ask('gpt-4o-mini')
    expect(status).toBe(200)
    expect(asked()).toEqual(['v1', 'v1', 'v1'])
    const series = 'parkway_upstream_retries_total{provider="openai"}'
    expect(valueOf(await metricsText(), series) - valueOf(before, series)).toBe(2)
  })
})

describe('several keys of one upstream', () => {
  const keysUsed = () => gateway.upstream.requests.map(({ headers }) => headers.authorization)

  test('are used in turn, and a refused key rests while others answer', async () => {
    for (let count = 0; count < 3; count += 1) await ask('one-key-refused')
    expect(new Set(keysUsed())).toEqual(new Set(['Bearer key-one', 'Bearer key-two', 'Bearer key-three']))
    gateway.upstream.requests.length = 0
    gateway.upstream.respondWith((request) =>
      request.headers.authorization === 'Bearer key-two' ? failure(401) : completion(),
    )
    const statuses: number[] = []
    for (let count = 0; count < 6; count += 1) statuses.push((await ask('one-key-refused')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200])
    expect(keysUsed().filter((key) => key === 'Bearer key-two')).toHaveLength(1)
  })

  test('502 if all of them are refused', async () => {
    gateway.upstream.respondWith(failure(403))
    const { status, body } = await ask('all-keys-refused')
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect(new Set(keysUsed()).size).toBeGreaterThan(1)
    expect(gateway.upstream.requests.length).toBeLessThanOrEqual(4)
  })
})

describe('an upstream that keeps failing', () => {
  const state = async () =>
    valueOf(
      await metricsText(),
      'parkway_circuit_breaker_accounts{provider="together",model="together-name"}',
    )

  test('is still called if there is no other, and used normally again once it answers', async () => {
    replyWith({ together: [failure(500)] })
    for (let count = 0; count < 5; count += 1) expect((await ask('fragile')).status).toBe(502)
    expect(await state()).toBe(1)
    gateway.upstream.requests.length = 0
    expect((await ask('fragile')).status).toBe(502)
    expect(asked()).toEqual(['together'])

    replyWith({})
    expect((await ask('fragile')).status).toBe(200)
    expect(await state()).toBe(0)
  })
})

function valueOf(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length))
}
