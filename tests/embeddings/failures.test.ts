import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import {
  failure,
  headersOnly,
  htmlPage,
  json,
  silence,
  stream,
  type Reply,
} from '../upstreams/openai-server.ts'
import {
  answerOf,
  embeddingBody,
  EMBEDDINGS,
  embeddings,
  startEmbeddingGateway,
} from './start-embedding-gateway.ts'
import { eventually } from '../support/eventually.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startEmbeddingGateway({ PARKWAY_DRAINS_MAX: '0' })
})

afterAll(() => gateway.close())

/** Gets a good answer first, so that no test inherits the failures of another. */
beforeEach(async () => {
  gateway.upstream.respondWith(embeddings())
  for (const model of ['on-vllm', 'text-embedding-3-small']) expect((await ask({ model })).status).toBe(200)
  gateway.upstream.requests.length = 0
})

const ask = (members: object = {}, headers: Record<string, string> = {}) =>
  gateway.request('POST', EMBEDDINGS, { body: embeddingBody(members), headers })
const asked = () => gateway.upstream.requests.map(({ path }) => path.split('/')[1])
const spent = async () => (await gateway.request('GET', '/v1/usage/records?limit=1')).body.total

describe('an upstream without embeddings in its answer', () => {
  test.each<[string, Reply, object?]>([
    ['a page', htmlPage(200)],
    ['half a document', json('{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1')],
    ['no list', json({ object: 'list', data: {} })],
    ['too few', embeddings([[1]]), { input: ['a', 'b'] }],
    ['too many', embeddings([[1], [2]])],
    ['none', embeddings([])],
    ['an empty one', embeddings([[]])],
    ['one with a hole', embeddings([[1, null]])],
    ['one of words', embeddings([['a']])],
    ['one in no encoding', embeddings(['a']), { encoding_format: 'float' }],
    ['events', stream([answerOf([[1]])])],
  ])('is retried, and then the answer is 502: %s', async (_name, reply, members = {}) => {
    const before = await spent()
    gateway.upstream.respondWith(reply)
    const { status, body, headers } = await ask(members)
    expect([status, body.error.type, body.error.code]).toEqual([502, 'upstream_error', 'provider_error'])
    expect(headers.get('x-gateway-cost-usd')).toBeNull()
    expect(asked()).toHaveLength(3)
    expect(await spent()).toBe(before)
  })

  test('is used if the retry succeeds', async () => {
    gateway.upstream.respondWith(failure(500), embeddings())
    expect((await ask()).status).toBe(200)
    expect(asked()).toHaveLength(2)
  })
})

describe('an upstream that refuses', () => {
  test('a request that is too long is quoted', async () => {
    const message = "This model's maximum context length is 8192 tokens, however you requested 9001 tokens."
    gateway.upstream.respondWith(failure(400, { message, type: 'invalid_request_error', param: 'input' }))
    const { status, body } = await ask()
    expect([status, body.error.code, body.error.message]).toEqual([400, 'context_length_exceeded', message])
    expect(asked()).toHaveLength(1)
  })

  test('inside an answer of 200 is recognised', async () => {
    gateway.upstream.respondWith(json({ object: 'error', message: 'out of memory', code: 500 }))
    expect((await ask({ model: 'on-vllm' })).status).toBe(502)
  })

  test('because of its rate gives 429 with retry-after', async () => {
    gateway.upstream.respondWith(failure(429, {}, { 'retry-after': '7' }))
    const { status, body, headers } = await ask()
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '7'])
  })
})

describe('a model with two routes', () => {
  test.each<[string, Reply]>([
    ['fails', failure(500)],
    ['sends no valid answer', json('{"data":')],
    ['sends too few', embeddings([])],
  ])('is served by the second if the first %s', async (_name, reply) => {
    gateway.upstream.respondWith((request) => {
      const chosen = request.path.startsWith('/vllm') ? reply : embeddings()
      return typeof chosen === 'function' ? chosen(request) : chosen
    })
    const { status, headers } = await ask({ model: 'two-routes' })
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'ollama'])
    expect(asked()).toEqual(['vllm', 'ollama'])
    const { body } = await gateway.request('GET', '/v1/usage/records?limit=1')
    expect(body.data[0]).toMatchObject({ provider: 'ollama', cost_usd: 0.000005 })
  })
})

describe('a client that disconnects', () => {
  test.each<[string, Reply]>([
    ['has said nothing', silence],
    ['is about to answer', headersOnly('application/json')],
  ])(
    'while the upstream %s cancels the call if draining is off, and pays for its input',
    async (_name, reply) => {
      const before = await spent()
      gateway.upstream.respondWith(reply)
      const client = new AbortController()
      const asking = gateway.fetch('POST', EMBEDDINGS, { body: embeddingBody(), signal: client.signal })
      const request = await gateway.upstream.requestNumber(0)
      client.abort()
      await expect(asking).rejects.toThrow()
      await request.abandoned
      await eventually(async () => {
        const { body } = await gateway.request('GET', '/v1/usage/budget')
        expect(body.held_usd).toBe(0)
      })
      await eventually(async () => expect(await spent()).toBeGreaterThan(before))
      expect(gateway.upstream.requests).toHaveLength(1)
    },
  )
})

describe('an idempotency key', () => {
  test('gets the same bytes again and is charged once', async () => {
    const before = await spent()
    const headers = { 'idempotency-key': 'embed-once' }
    const first = await ask({ encoding_format: 'base64' }, headers)
    gateway.upstream.respondWith(embeddings([[9, 9]]))
    const second = await ask({ encoding_format: 'base64' }, headers)
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('x-gateway-cost-usd')).toBe('0')
    expect(await spent()).toBe(before + 1)
    const other = await ask({ input: 'another' }, headers)
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused'])
  })
})
