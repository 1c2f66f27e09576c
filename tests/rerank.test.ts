import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { modelEntry, startChatGateway, type ChatGateway } from './chat/start-chat-gateway.ts'
import { createAccountKey, createKey } from './clients/create-key.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'
import { failure, htmlPage, json, silence, type Reply } from './upstreams/openai-server.ts'
import { eventually } from './support/eventually.ts'

const RERANK = '/v1/rerank'
const DOCUMENTS = ['Bread is baked.', { text: 'A gateway joins two networks.' }, 'Cats sleep.']

let gateway: ChatGateway

beforeAll(async () => {
  const entry = (id: string, providers: readonly string[], members: object = {}) =>
    modelEntry(
      id,
      providers.map((provider, priority) => ({ provider, model: `${provider}-ranker`, priority })),
      { category: 'rerank', capabilities: [], price: { unit: 'search', usd: 0.001 }, ...members },
    )
  gateway = await startChatGateway({
    providers: ['vllm', 'ollama'],
    models: [
      entry('ranker', ['vllm'], { aliases: ['ranker-alias'] }),
      entry('two-rankers', ['vllm', 'ollama']),
      entry('by-token', ['vllm'], { price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 0 } }),
    ],
  })
})

afterAll(() => gateway.close())

beforeEach(async () => {
  gateway.upstream.respondWith(ranking([0.1, 0.9, 0.2]))
  for (const model of ['ranker', 'two-rankers']) expect((await ask({ model })).status).toBe(200)
  gateway.upstream.requests.length = 0
})

const ask = (members: object = {}, key = gateway.key) =>
  gateway.request('POST', RERANK, {
    body: { model: 'ranker', query: 'What is a gateway?', documents: DOCUMENTS, ...members },
    key,
  })
const records = async () => (await gateway.request('GET', '/v1/usage/records?limit=1')).body
const ranking = (scores: readonly unknown[]) =>
  json({ results: scores.map((relevance_score, index) => ({ index, relevance_score })) })

describe('a ranking', () => {
  test('has the most relevant first, its price and its usage', async () => {
    const { status, body, headers } = await ask()
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^rerank-/),
      model: 'ranker',
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 2, relevance_score: 0.2 },
        { index: 0, relevance_score: 0.1 },
      ],
      usage: { search_units: 1, cost_usd: 0.001 },
      meta: { billed_units: { search_units: 1 } },
    })
    expect(headers.get('x-gateway-cost-usd')).toBe('0.001')
    expect(headers.get('x-gateway-provider')).toBe('vllm')
    expect(headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    expect((await records()).data[0]).toMatchObject({ operation: 'rerank', model: 'ranker', cost_usd: 0.001 })
  })

  test('has no more results than requested, and their texts if requested', async () => {
    const { body } = await ask({ top_n: 2, return_documents: true, model: 'ranker-alias' })
    expect(body.model).toBe('ranker-alias')
    expect(body.results).toEqual([
      { index: 1, relevance_score: 0.9, document: { text: 'A gateway joins two networks.' } },
      { index: 2, relevance_score: 0.2, document: { text: 'Cats sleep.' } },
    ])
    expect((await ask({ top_n: 50 })).body.results).toHaveLength(3)
  })

  test('ignores members that only apply to a chat', async () => {
    expect((await ask({ stream: true, n: 'many' })).status).toBe(200)
  })

  test('counts a search unit for each hundred documents', async () => {
    const documents = Array.from({ length: 101 }, (_, index) => `document ${index}`)
    gateway.upstream.respondWith(ranking(documents.map((_, index) => index / 1000)))
    const { body } = await ask({ documents })
    expect(body.meta.billed_units.search_units).toBe(2)
    expect(body.usage).toEqual({ search_units: 2, cost_usd: 0.002 })
  })

  test('can be priced by its tokens, with the query counted for each document', async () => {
    gateway.upstream.respondWith(ranking([0.5, 0.6]))
    expect((await ask({ model: 'by-token', query: 'a', documents: ['b', 'c'] })).body.usage.cost_usd).toBe(
      0.000004,
    )
  })
})

describe('a ranking is refused', () => {
  test.each<[string, object, number, string, string | null]>([
    ['without a query', { query: undefined }, 400, 'missing_required_parameter', 'query'],
    ['of an empty query', { query: '' }, 400, 'invalid_value', 'query'],
    ['without documents', { documents: undefined }, 400, 'missing_required_parameter', 'documents'],
    ['of no documents', { documents: [] }, 400, 'invalid_value', 'documents'],
    ['of documents that are none', { documents: [5] }, 400, 'invalid_value', 'documents.0'],
    [
      'of too many',
      { documents: Array.from({ length: 1001 }, () => 'a') },
      400,
      'invalid_value',
      'documents',
    ],
    ['down to none', { top_n: 0 }, 400, 'invalid_value', 'top_n'],
    ['by a model of another kind', { model: 'gpt-4o-mini' }, 400, 'invalid_value', 'model'],
    ['by a model nobody knows', { model: 'no-such-model' }, 404, 'model_not_found', 'model'],
  ])('%s', async (_name, members, status, code, param) => {
    const answer = await ask(members)
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([status, code, param])
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('a ranking is refused to an account without credit, to a capped key and to one that may not use the model', async () => {
    const { key: poor } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0.0009 })
    const capped = await createKey(gateway, { name: 'capped', env: 'dev', limit_usd: 0.0001 })
    const narrow = await createKey(gateway, { name: 'narrow', env: 'dev', allowed_models: ['two-rankers'] })
    const codes = []
    for (const key of [poor, capped, narrow]) {
      const { status, body } = await ask({}, key)
      codes.push([status, body.error.code])
    }
    expect(codes).toEqual([
      [402, 'insufficient_balance'],
      [402, 'key_limit_reached'],
      [403, 'model_not_allowed'],
    ])
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test.each<[string, Reply]>([
    ['a page', htmlPage(200)],
    ['an error', failure(500)],
    ['nothing', ranking([])],
    ['scores that are none', ranking(['high'])],
    ['a document that was not sent', json({ results: [{ index: 3, relevance_score: 1 }] })],
    ['a document twice', json({ results: [0, 0].map((index) => ({ index, relevance_score: 1 })) })],
  ])('with 502 if every upstream sends %s', async (_name, reply) => {
    const before = (await records()).total
    gateway.upstream.respondWith(reply)
    const { status, body } = await ask()
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect((await records()).total).toBe(before)
  })
})

describe('a ranking with failures', () => {
  test('is done by the second route', async () => {
    gateway.upstream.respondWith(({ path }) => (path.startsWith('/vllm') ? failure(503) : ranking([1, 2, 3])))
    const { status, headers } = await ask({ model: 'two-rankers' })
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'ollama'])
  })

  test('ends with its client, and nothing is charged', async () => {
    const before = (await records()).total
    gateway.upstream.respondWith(silence)
    const client = new AbortController()
    const body = { model: 'ranker', query: 'a', documents: ['b'] }
    const asking = gateway.fetch('POST', RERANK, { body, signal: client.signal })
    const request = await gateway.upstream.requestNumber(0)
    client.abort()
    await expect(asking).rejects.toThrow()
    await request.abandoned
    await eventually(async () => {
      expect((await gateway.request('GET', '/v1/usage/budget')).body.held_usd).toBe(0)
    })
    expect((await records()).total).toBe(before)
  })

  test('is done once for an idempotency key', async () => {
    const before = (await records()).total
    const once = () =>
      gateway.request('POST', RERANK, {
        body: { model: 'ranker', query: 'a', documents: ['b', 'c', 'd'] },
        headers: { 'idempotency-key': 'rank-once' },
      })
    const [first, second] = [await once(), await once()]
    expect(second.body).toEqual(first.body)
    expect((await records()).total).toBe(before + 1)
  })
})

describe('the default rerank model', () => {
  let sandboxed: TestGateway

  beforeAll(async () => {
    sandboxed = await startTestGateway()
  })

  afterAll(() => sandboxed.close())

  test('is the first of the catalog, and ranks in the sandbox', async () => {
    const { body: models } = await sandboxed.request('GET', '/v1/models?category=rerank')
    const { status, body } = await sandboxed.request('POST', RERANK, {
      body: { query: 'What is a gateway?', documents: DOCUMENTS },
    })
    expect([status, body.model, body.results[0].index]).toEqual([200, models.data[0].id, 1])
    expect(body.usage.cost_usd).toBe(models.data[0].price.usd)
  })

  test('is not available to a key that may only use others', async () => {
    const key = await createKey(sandboxed, { name: 'narrow', env: 'dev', allowed_models: ['gpt-4o-mini'] })
    const { status, body } = await sandboxed.request('POST', RERANK, {
      body: { query: 'a', documents: ['b'] },
      key,
    })
    expect([status, body.error.code]).toEqual([403, 'model_not_allowed'])
  })
})
