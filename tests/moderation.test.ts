import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MODERATION_CATEGORIES } from '../src/wires/openai-moderations/moderation-request.ts'
import { modelEntry, startChatGateway, type ChatGateway } from './chat/start-chat-gateway.ts'
import { createAccountKey, createKey } from './clients/create-key.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'
import { failure, htmlPage, json, silence, type Reply } from './upstreams/openai-server.ts'
import { eventually } from './support/eventually.ts'

const MODERATIONS = '/v1/moderations'

let gateway: ChatGateway

beforeAll(async () => {
  const entry = (id: string, providers: readonly string[], price: object) =>
    modelEntry(
      id,
      providers.map((provider, priority) => ({ provider, model: `${provider}-guard`, priority })),
      { category: 'moderation', capabilities: [], price },
    )
  gateway = await startChatGateway({
    providers: ['vllm', 'ollama'],
    settings: { PARKWAY_DRAINS_MAX: '0' },
    models: [
      entry('paid-guard', ['vllm'], { unit: 'request', usd: 0.01 }),
      entry('token-guard', ['vllm'], { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 0 }),
      entry('two-guards', ['vllm', 'ollama'], { unit: 'request', usd: 0 }),
    ],
  })
})

afterAll(() => gateway.close())

beforeEach(async () => {
  gateway.upstream.respondWith(judgements(1))
  for (const model of ['omni-moderation-latest', 'two-guards'])
    expect((await ask({ model })).status).toBe(200)
  gateway.upstream.requests.length = 0
})

const ask = (members: object = {}, key = gateway.key) =>
  gateway.request('POST', MODERATIONS, { body: { input: 'I will plant a tree.', ...members }, key })
const records = async () => (await gateway.request('GET', '/v1/usage/records?limit=1')).body

function judgements(count: number, result: object = {}) {
  const every = <Value>(value: Value) =>
    Object.fromEntries(MODERATION_CATEGORIES.map((category) => [category, value]))
  return json({
    id: 'modr-upstream',
    model: 'omni-moderation-2024-09-26',
    results: Array.from({ length: count }, () => ({
      flagged: false,
      categories: every(false),
      category_scores: every(0.001),
      category_applied_input_types: every(['text']),
      ...result,
    })),
  })
}

describe('a moderation', () => {
  test("has OpenAI's form, is free, is in the usage and counts against the rates", async () => {
    const before = (await records()).total
    const { status, body, headers } = await ask()
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['id', 'model', 'results'])
    expect([body.id, body.model]).toEqual(['modr-upstream', 'omni-moderation-latest'])
    expect(Object.keys(body.results[0].categories)).toEqual([...MODERATION_CATEGORIES])
    expect(headers.get('x-gateway-cost-usd')).toBe('0')
    expect(headers.get('x-gateway-provider')).toBe('openai')
    expect(headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    const after = await records()
    expect(after.total).toBe(before + 1)
    expect(after.data[0]).toMatchObject({
      operation: 'moderation',
      model: 'omni-moderation-latest',
      cost_usd: 0,
    })
  })

  test('uses the default model if none is named', async () => {
    await ask()
    expect(gateway.upstream.bodies()[0]).toEqual({
      input: 'I will plant a tree.',
      model: 'omni-moderation-latest',
    })
    expect((await ask({ model: 'omni-moderation-2024-09-26' })).body.model).toBe('omni-moderation-2024-09-26')
  })

  test('is made for each text, and for all parts of a message together', async () => {
    gateway.upstream.respondWith(judgements(2))
    expect((await ask({ input: ['a', 'b'] })).body.results).toHaveLength(2)
    gateway.upstream.respondWith(judgements(1))
    const input = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ]
    expect((await ask({ input })).body.results).toHaveLength(1)
    expect(gateway.upstream.bodies()[1].input).toEqual(input)
  })

  test('ignores members that only apply to a chat', async () => {
    expect((await ask({ stream: true, n: 'many' })).status).toBe(200)
  })

  test('has all categories even if the upstream knows fewer', async () => {
    const older = { flagged: undefined, categories: { hate: true }, category_scores: { hate: 0.9 } }
    gateway.upstream.respondWith(judgements(1, { ...older, category_applied_input_types: undefined }))
    const [result] = (await ask()).body.results
    expect(result.flagged).toBe(true)
    expect(Object.keys(result.category_scores)).toHaveLength(13)
    expect([result.categories.hate, result.categories.violence]).toEqual([true, false])
    expect(result.category_applied_input_types).toMatchObject({ hate: ['text'], violence: [] })
  })

  test('costs the price of its model, if it has one', async () => {
    const costOf = async (members: object) => {
      const answer = await ask(members)
      // The whole answer, so that a failure tells its reason.
      expect(answer).toMatchObject({ status: 200 })
      return answer.headers.get('x-gateway-cost-usd')
    }
    expect(await costOf({ model: 'paid-guard' })).toBe('0.01')
    expect(await costOf({ model: 'token-guard', input: 'a' })).toBe('0.000001')
  })
})

describe('a moderation is refused', () => {
  test.each<[string, object, number, string, string | null]>([
    ['without an input', { input: undefined }, 400, 'missing_required_parameter', 'input'],
    ['of nothing', { input: [] }, 400, 'invalid_value', 'input'],
    ['of a number', { input: 5 }, 400, 'invalid_value', 'input'],
    ['of parts of an unknown kind', { input: [{ type: 'audio' }] }, 400, 'invalid_value', 'input.0'],
    ['by a model of another kind', { model: 'gpt-4o-mini' }, 400, 'invalid_value', 'model'],
    ['by a model nobody knows', { model: 'no-such-model' }, 404, 'model_not_found', 'model'],
  ])('%s', async (_name, members, status, code, param) => {
    const answer = await ask(members)
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([status, code, param])
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('a moderation is refused to an account without credit only if it has a price', async () => {
    const { key } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0 })
    expect((await ask({}, key)).status).toBe(200)
    const { status, body } = await ask({ model: 'paid-guard' }, key)
    expect([status, body.error.code]).toEqual([402, 'insufficient_balance'])
  })

  test('a moderation is refused to a key that may not use the model', async () => {
    const key = await createKey(gateway, { name: 'narrow', env: 'dev', allowed_models: ['two-guards'] })
    const { status, body } = await ask({ model: 'omni-moderation-latest' }, key)
    expect([status, body.error.code]).toEqual([403, 'model_not_allowed'])
    expect((await ask({}, key)).body.model).toBe('two-guards')
  })

  test.each<[string, Reply]>([
    ['a page', htmlPage(200)],
    ['an error', failure(500)],
    ['too few judgements', judgements(0)],
    ['judgements without categories', judgements(1, { categories: 'none' })],
  ])('with 502 if the upstream sends %s', async (_name, reply) => {
    const before = (await records()).total
    gateway.upstream.respondWith(reply)
    const { status, body } = await ask()
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect((await records()).total).toBe(before)
  })

  test('for a while once its rate is reached, although it is free', async () => {
    const key = await createKey(gateway, { name: 'slow', env: 'dev', requests_per_minute: 1 })
    expect((await ask({}, key)).status).toBe(200)
    const { status, body, headers } = await ask({}, key)
    expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('a moderation with failures', () => {
  test('is done by the second route', async () => {
    gateway.upstream.respondWith(({ path }) => (path.startsWith('/vllm') ? failure(503) : judgements(1)))
    const { status, headers } = await ask({ model: 'two-guards' })
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'ollama'])
  })

  test('ends with its client if draining is off, and is in the usage', async () => {
    const before = (await records()).total
    gateway.upstream.respondWith(silence)
    const client = new AbortController()
    const asking = gateway.fetch('POST', MODERATIONS, { body: { input: 'a' }, signal: client.signal })
    const request = await gateway.upstream.requestNumber(0)
    client.abort()
    await expect(asking).rejects.toThrow()
    await request.abandoned
    await eventually(async () => expect((await records()).total).toBe(before + 1))
  })
})

describe('a moderation in the sandbox', () => {
  let sandboxed: TestGateway

  beforeAll(async () => {
    sandboxed = await startTestGateway()
  })

  afterAll(() => sandboxed.close())

  test('distinguishes a threat from a tree', async () => {
    const { status, body } = await sandboxed.request('POST', MODERATIONS, {
      body: { input: ['I will plant a tree.', 'I am going to kill you.'] },
    })
    expect(status).toBe(200)
    expect(body.results.map(({ flagged }: { flagged: boolean }) => flagged)).toEqual([false, true])
    expect(Object.keys(body.results[1].category_scores).toSorted()).toEqual(
      [...MODERATION_CATEGORIES].toSorted(),
    )
  })

  test('is listed with its category', async () => {
    const { body } = await sandboxed.request('GET', '/v1/models?category=moderation')
    expect(body.data[0]).toMatchObject({ id: 'omni-moderation-latest', endpoint: '/v1/moderations' })
  })
})
