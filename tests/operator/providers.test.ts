import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHAT,
  chatBody,
  modelEntry,
  startChatGateway,
  UPSTREAM_KEY,
  type ChatGateway,
} from '../chat/start-chat-gateway.ts'
import { createKey, createStranger, failureOf } from '../sessions/sign-in.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { completion, failure, htmlPage, silence } from '../upstreams/openai-server.ts'

const PROVIDERS = '/v1/admin/providers'

let gateway: ChatGateway

beforeAll(async () => {
  const routes = [{ provider: 'openai', model: 'cheap-upstream', priority: 3, weight: 7 }]
  gateway = await startChatGateway({
    models: [
      modelEntry('cheap', routes, {
        price: { unit: 'token', input_usd_per_1m: 0, output_usd_per_1m: 0.000001 },
      }),
    ],
    settings: { GROQ_BASE_URL: 'http://user:secret-word@127.0.0.1:9/v1' },
  })
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.respondWith(completion()))

const providerOf = async (id: string, from = gateway as Pick<ChatGateway, 'request'>) => {
  const { body } = await from.request('GET', PROVIDERS)
  return body.data.find((provider: { id: string }) => provider.id === id)
}
const callTest = (
  name: string,
  body: object = {},
  { from = gateway, key = gateway.key }: { from?: Pick<ChatGateway, 'request'>; key?: string } = {},
) => from.request('POST', `${PROVIDERS}/${name}/test`, { body, key })

describe('the list of providers', () => {
  test('says what is configured, what is missing, and which models each serves', async () => {
    const { status, body } = await gateway.request('GET', PROVIDERS)
    expect([status, body.object]).toEqual([200, 'list'])
    const openai = await providerOf('openai')
    expect(openai).toMatchObject({
      object: 'provider',
      is_configured: true,
      missing: [],
      keys: 1,
      base_url_host: new URL(gateway.upstream.baseUrl).host,
    })
    expect(openai.operations).toContain('chat')
    expect(openai.models.find(({ model }: { model: string }) => model === 'cheap')).toMatchObject({
      upstream_model: 'cheap-upstream',
      category: 'llm',
      priority: 3,
      weight: 7,
      price_file: expect.stringMatching(/catalog\.json$/),
      breaker: { state: 'closed', accounts: 0 },
    })
    expect(openai.models.find(({ model }: { model: string }) => model === 'gpt-4o-mini')).toMatchObject({
      price_file: 'built-in',
    })
    expect(await providerOf('anthropic')).toMatchObject({
      is_configured: false,
      missing: ['ANTHROPIC_API_KEY'],
    })
    expect(await providerOf('vllm')).toMatchObject({ is_configured: false, missing: ['VLLM_BASE_URL'] })
    const klingai = await providerOf('klingai')
    expect(klingai.missing).toHaveLength(2)
  })

  test('never shows a secret', async () => {
    const { body } = await gateway.request('GET', PROVIDERS)
    const text = JSON.stringify(body)
    expect(text).not.toContain(UPSTREAM_KEY)
    expect(text).not.toContain('secret-word')
    expect((await providerOf('groq')).base_url_host).toBe('127.0.0.1:9')
  })

  test('has the requests, errors and latency of the last minutes', async () => {
    const before = (await providerOf('openai')).recent
    await gateway.request('POST', CHAT, { body: chatBody({ model: 'cheap' }) })
    gateway.upstream.respondWith(failure(400))
    await gateway.request('POST', CHAT, { body: chatBody({ model: 'cheap' }) })
    await eventually(async () => {
      const { recent } = await providerOf('openai')
      expect(recent).toMatchObject({
        window_seconds: 300,
        requests: before.requests + 2,
        errors: before.errors + 1,
      })
      expect(recent.error_share).toBeGreaterThan(0)
      expect(recent.latency_ms.p50).toBeGreaterThan(0)
      expect(recent.latency_ms.p95).toBeGreaterThanOrEqual(recent.latency_ms.p50)
    })
  })

  test('shows an open breaker, also one of another process, and counts the processes', async () => {
    expect((await gateway.request('GET', PROVIDERS)).body.processes).toBe(1)
    const second = await startTestGateway({ connectionString: gateway.connectionString })
    try {
      gateway.upstream.respondWith(failure(500))
      await eventually(async () => {
        await gateway.request('POST', CHAT, { body: chatBody({ model: 'gpt-4o-mini' }) })
        const { models } = await providerOf('openai', second)
        const { breaker } = models.find(({ model }: { model: string }) => model === 'gpt-4o-mini')
        expect(breaker.state === 'open' || breaker.accounts > 0).toBe(true)
      })
      expect((await second.request('GET', PROVIDERS)).body.processes).toBe(2)
    } finally {
      await second.close()
    }
  })

  test('is for operators only', async () => {
    const key = await createStranger(gateway)
    expect(failureOf(await gateway.request('GET', PROVIDERS, { key }))).toEqual([403, 'forbidden'])
    expect(failureOf(await gateway.request('GET', PROVIDERS, { key: null }))).toEqual([
      401,
      'invalid_api_key',
    ])
  })
})

describe('a test call', () => {
  test('sends the smallest request to the cheapest model, charges nobody and is audited', async () => {
    const { body: before } = await gateway.request('GET', '/v1/tenants/me')
    const sent = gateway.upstream.requests.length
    const { status, body } = await callTest('openai')
    expect([status, body]).toEqual([
      200,
      {
        object: 'provider_test',
        provider: 'openai',
        model: 'cheap',
        upstream_model: 'cheap-upstream',
        is_ok: true,
        latency_ms: expect.any(Number),
        status: null,
        failure: null,
        message: null,
      },
    ])
    const asked = gateway.upstream.requests.at(-1)
    expect(gateway.upstream.requests).toHaveLength(sent + 1)
    expect(asked?.body).toMatchObject({ model: 'cheap-upstream', max_completion_tokens: 16 })
    expect(asked?.text.length).toBeLessThan(200)
    const { body: after } = await gateway.request('GET', '/v1/tenants/me')
    expect(after.balance_usd).toBe(before.balance_usd)
    const { body: audit } = await gateway.request('GET', '/v1/admin/audit?target_id=openai')
    expect(audit.data[0]).toMatchObject({
      action: 'provider.test',
      target: { kind: 'provider', id: 'openai' },
      details: { model: 'cheap' },
      outcome: 'done',
    })
  })

  test('says how it failed, without repeating the key', async () => {
    gateway.upstream.respondWith(failure(401, { message: `Incorrect API key provided: ${UPSTREAM_KEY}.` }))
    const { status, body } = await callTest('openai', { model: 'gpt-4o-mini' })
    expect([status, body.is_ok, body.status, body.failure]).toEqual([200, false, 401, 'status'])
    expect(body.message).toContain('Incorrect API key')
    expect(JSON.stringify(body)).not.toContain(UPSTREAM_KEY)
  })

  test('a test call of an upstream that answers with a page is no success', async () => {
    gateway.upstream.respondWith(htmlPage(200))
    expect((await callTest('openai')).body).toMatchObject({ is_ok: false, failure: 'invalid_answer' })
  })

  test('ends when the operator leaves', async () => {
    gateway.upstream.respondWith(silence)
    const leaving = new AbortController()
    const sent = gateway.upstream.requests.length
    const asked = gateway
      .fetch('POST', `${PROVIDERS}/openai/test`, { body: {}, signal: leaving.signal })
      .catch(() => null)
    const upstream = await gateway.upstream.requestNumber(sent)
    leaving.abort()
    await upstream.abandoned
    expect(await asked).toBeNull()
  })

  test.each([
    ['an unknown provider', 'nobody', {}, [404, 'not_found']],
    ['a provider that is not configured', 'anthropic', {}, [503, 'provider_not_configured']],
    ['a model without a route to it', 'openai', { model: 'claude-sonnet-4-5' }, [400, 'invalid_value']],
    ['an image model', 'openai', { model: 'gpt-image-2' }, [400, 'invalid_request']],
    ['a wrong type', 'openai', { model: 7 }, [400, 'invalid_value']],
    ['an unknown member', 'openai', { modle: 'cheap' }, [400, 'unsupported_parameter']],
  ])('a test call of %s is refused', async (_, name, body, expected) => {
    const sent = gateway.upstream.requests.length
    expect(failureOf(await callTest(name, body))).toEqual(expected)
    expect(gateway.upstream.requests).toHaveLength(sent)
  })

  test('is for operators only', async () => {
    const { key } = await createKey(gateway, { scopes: ['inference', 'manage'] })
    expect(failureOf(await callTest('openai', {}, { key }))).toEqual([403, 'forbidden'])
    const stranger = await createStranger(gateway)
    expect(failureOf(await callTest('openai', {}, { key: stranger }))).toEqual([403, 'forbidden'])
  })

  test('is limited to ten a minute in each process', async () => {
    const other = await startTestGateway({
      connectionString: gateway.connectionString,
      settings: { OPENAI_API_KEY: UPSTREAM_KEY, OPENAI_BASE_URL: gateway.upstream.apiUrl },
    })
    try {
      const statuses: number[] = []
      for (let count = 0; count < 10; count += 1)
        statuses.push((await callTest('openai', {}, { from: other })).status)
      expect(statuses).toEqual(Array(10).fill(200))
      const refused = await callTest('openai', {}, { from: other })
      expect(failureOf(refused)).toEqual([429, 'rate_limit_exceeded'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await callTest('openai')).status).toBe(200)
    } finally {
      await other.close()
    }
  })
})
