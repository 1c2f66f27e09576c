import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway, type TestRequest } from '../support/start-test-gateway.ts'
import { eventually } from '../support/eventually.ts'

const CHAT = '/v1/chat/completions'
const KEYS = '/v1/tenants/me/api-keys'
const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

const chat = (request: TestRequest = {}) => gateway.request('POST', CHAT, { body: BODY, ...request })

async function createKey(body: object): Promise<{ id: string; key: string }> {
  const answer = await gateway.request('POST', KEYS, { body: { env: 'dev', ...body } })
  expect(answer.status).toBe(201)
  return answer.body
}

async function query(text: string, values: unknown[]): Promise<void> {
  const client = new Client({ connectionString: gateway.connectionString })
  await client.connect()
  try {
    await client.query(text, values)
  } finally {
    await client.end()
  }
}

describe('401', () => {
  const unknown = `pk-dev-${'x'.repeat(43)}`

  async function expectRefused(request: TestRequest): Promise<void> {
    for (const [method, path] of [
      ['POST', CHAT],
      ['GET', '/v1/models'],
    ] as const) {
      const { body: _body, ...rest } = request
      const answer = await gateway.request(method, path, method === 'POST' ? { body: BODY, ...rest } : rest)
      expect([answer.status, answer.body.error]).toEqual([
        401,
        {
          message: expect.any(String),
          type: 'authentication_error',
          param: null,
          code: 'invalid_api_key',
          request_id: answer.headers.get('x-request-id'),
        },
      ])
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  }

  test('no key at all', () => expectRefused({ key: null }))

  test.each(['Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'pk-dev-x', 'Bearer a b', 'Bearer\t\tx'])(
    'a malformed header: %j',
    (authorization) => expectRefused({ key: null, headers: { authorization } }),
  )

  test.each([unknown, 'sk-something', 'pk-qa-xxxx', `pk-dev-${'x'.repeat(10_000)}`, "pk-dev-' OR 1=1"])(
    'an unknown key: %s',
    (key) => expectRefused({ key }),
  )

  test('the answer does not contain the wrong key', async () => {
    expect(JSON.stringify((await chat({ key: unknown })).body)).not.toContain('xxxx')
  })

  test('a revoked key, at once', async () => {
    const { id, key } = await createKey({})
    expect((await chat({ key })).status).toBe(200)
    await gateway.request('DELETE', `${KEYS}/${id}`)
    await expectRefused({ key })
  })

  test('an expired key', async () => {
    const { id, key } = await createKey({ expires_at: '2099-01-01T00:00:00Z' })
    await query('UPDATE api_keys SET expires_at = $2 WHERE id = $1', [id, new Date('2001-01-01T00:00:00Z')])
    await expectRefused({ key })
  })

  test('comes before the body is checked', async () => {
    expect((await chat({ key: null, body: 'not json' })).status).toBe(401)
  })
})

describe('403', () => {
  test('a key without the scope', async () => {
    const { key } = await createKey({ scopes: ['manage'] })
    const { status, body } = await chat({ key })
    expect([status, body.error.type, body.error.code]).toEqual([403, 'permission_error', 'forbidden'])
    expect(body.error.message).toContain('inference')
  })

  test('a model the key may not use, by any name', async () => {
    const { key } = await createKey({ allowed_models: ['gpt-5.4', 'gpt-oss-20b'] })
    for (const model of ['gpt-4o-mini', 'gpt-4o-mini-2024-07-18']) {
      const { status, body } = await chat({ key, body: { ...BODY, model } })
      expect([status, body.error.code, body.error.param]).toEqual([403, 'model_not_allowed', 'model'])
    }
    for (const model of ['gpt-5.4', 'gpt-5.4-2026-03-05', 'openai/gpt-oss-20b'])
      expect((await chat({ key, body: { ...BODY, model } })).status).toBe(200)
  })

  test('a suspended account', async () => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Eve', credit_usd: 1 },
    })
    const { body: created } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { env: 'dev' },
    })
    expect((await chat({ key: created.key })).status).toBe(200)
    await gateway.request('POST', `/v1/admin/accounts/${account.id}/suspend`)
    const { status, body } = await chat({ key: created.key })
    expect([status, body.error.code]).toEqual([403, 'account_suspended'])
  })
})

describe('models', () => {
  test.each(['nothing', '', '../gpt-4o-mini', 'GPT-4O-MINI', 'gpt-4o-mini '])('404: %j', async (model) => {
    const { status, body } = await chat({ body: { ...BODY, model } })
    if (model === '') expect([status, body.error.code]).toEqual([400, 'invalid_value'])
    else expect([status, body.error.code, body.error.param]).toEqual([404, 'model_not_found', 'model'])
  })

  test.each([
    ['gpt-image-2', '/v1/images/generations'],
    ['text-embedding-3-small', '/v1/embeddings'],
  ])('400: %s is served by %s, and the message names that route', async (model, endpoint) => {
    const { status, body } = await chat({ body: { ...BODY, model } })
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'model'])
    expect(body.error.message).toContain(endpoint)
  })

  test.each(['live', 'prod', 'staging'])('503: no sandbox for a key of %s', async (env) => {
    const { key } = await createKey({ env })
    const { status, body, headers } = await chat({ key })
    expect([status, body.error.type, body.error.code]).toEqual([503, 'api_error', 'provider_not_configured'])
    expect([headers.get('x-should-retry'), headers.get('retry-after')]).toEqual(['false', null])
    expect(body.error.message).toContain('OPENAI_API_KEY')
  })

  test.each(['dev', 'test'])(
    '200: the sandbox answers a key of %s and is named in the answer',
    async (env) => {
      const { key } = await createKey({ env })
      const { status, headers } = await chat({ key })
      expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'sandbox'])
    },
  )
})

describe('402', () => {
  test.each([false, true])(
    'an account without credit is refused, and the client does not retry (stream: %s)',
    async (stream) => {
      const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
        body: { name: 'Poor' },
      })
      const { body: created } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
        body: { env: 'dev' },
      })
      const { status, body, headers } = await chat({ key: created.key, body: { ...BODY, stream } })
      expect([status, body.error.type, body.error.code]).toEqual([
        402,
        'billing_error',
        'insufficient_balance',
      ])
      expect(headers.get('x-should-retry')).toBe('false')
      expect(headers.get('retry-after')).toBeNull()
      expect((await gateway.request('GET', '/v1/models', { key: created.key })).status).toBe(200)
    },
  )
})

describe('429', () => {
  test('a key gets its requests per minute and then a correct retry-after', async () => {
    const { key } = await createKey({ requests_per_minute: 60 })
    const startedMs = performance.now()
    const answers = await Promise.all(Array.from({ length: 150 }, () => chat({ key })))
    const refilled = (performance.now() - startedMs) / 1_000
    const refused = answers.find(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(
      60 + Math.ceil(refilled),
    )
    expect([refused?.body.error.type, refused?.body.error.code]).toEqual([
      'rate_limit_error',
      'rate_limit_exceeded',
    ])
    expect(refused?.headers.get('retry-after')).toBe('1')
    const [limit, remaining, reset] = rateHeaders(refused?.headers ?? new Headers())
    expect([limit, Number(remaining) <= refilled, reset]).toEqual([
      '60',
      true,
      expect.stringMatching(/^\d+s$/),
    ])

    // Wait exactly as long as `retry-after` says.
    await delay(Number(refused?.headers.get('retry-after')) * 1000)
    expect((await chat({ key })).status).toBe(200)
  })

  test('every answer has the remaining requests of a limit', async () => {
    const { key } = await createKey({ requests_per_minute: 2 })
    const startedMs = performance.now()
    expect(rateHeaders((await chat({ key })).headers)).toEqual(['2', '1', '30s'])
    expect(rateHeaders((await chat({ key })).headers)).toEqual(['2', '0', '60s'])
    const refused = await chat({ key })
    const seconds = Number(refused.headers.get('retry-after'))
    expect([refused.status, seconds <= 30]).toEqual([429, true])
    expect(seconds * 1_000 + performance.now() - startedMs).toBeGreaterThanOrEqual(30_000)
  })

  test('a bad request counts like any other, and other keys and routes are not affected', async () => {
    const { key } = await createKey({ requests_per_minute: 2 })
    expect((await chat({ key, body: '{' })).status).toBe(400)
    expect((await chat({ key })).status).toBe(200)
    expect((await chat({ key })).status).toBe(429)
    expect((await gateway.request('GET', '/v1/models', { key })).status).toBe(200)
    expect((await chat()).status).toBe(200)
  })

  test('a key without its own limit has that of its account', async () => {
    const [limit, remaining] = rateHeaders((await chat()).headers)
    expect(Number(limit)).toBeGreaterThan(1000)
    expect(Number(remaining)).toBeLessThan(Number(limit))
  })

  function rateHeaders(headers: Headers): (string | null)[] {
    return ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}-requests`))
  }
})

describe('a client that disconnects', () => {
  test('in the middle of its body does no harm', async () => {
    const { hostname, port } = new URL(gateway.baseUrl)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {})
    socket.write(
      `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"mod`,
    )
    const inFlight = async () => {
      const { body } = await gateway.request('GET', '/metrics', { key: null })
      return Number(/parkway_requests_in_flight\{route="\/v1\/chat\/completions"\} (\d+)/.exec(body)?.[1])
    }
    await eventually(async () => expect(await inFlight()).toBe(1))
    socket.destroy()
    await eventually(async () => expect(await inFlight()).toBe(0))
    expect((await chat()).status).toBe(200)
  })
})
