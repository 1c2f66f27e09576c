import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const KEYS = '/v1/tenants/me/api-keys'

const KEY_FIELDS = [
  'allowed_models',
  'created_at',
  'env',
  'expires_at',
  'id',
  'is_active',
  'key_prefix',
  'last_used_at',
  'limit_usd',
  'name',
  'requests_per_minute',
  'scopes',
  'spent_usd',
]

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

describe('POST /v1/tenants/me/api-keys', () => {
  test('201: the key is shown once, with exactly the documented fields', async () => {
    const { status, body } = await gateway.request('POST', KEYS, {
      body: {
        name: 'continuous integration',
        env: 'test',
        expires_at: '2099-01-31T12:00:00+02:00',
        limit_usd: 0.000000001,
        allowed_models: ['gpt-5.4', 'byom-later', 'gpt-5.4', 'gpt-4o-mini'],
        requests_per_minute: 60,
        scopes: ['manage', 'inference'],
      },
    })
    expect(status).toBe(201)
    expect(Object.keys(body).toSorted()).toEqual([...KEY_FIELDS, 'key'].toSorted())
    expect(body).toMatchObject({
      name: 'continuous integration',
      env: 'test',
      is_active: true,
      last_used_at: null,
      expires_at: '2099-01-31T10:00:00.000Z',
      limit_usd: 0.000000001,
      spent_usd: 0,
      allowed_models: ['gpt-5.4', 'byom-later', 'gpt-4o-mini'],
      requests_per_minute: 60,
      scopes: ['inference', 'manage'],
    })
    expect(body.key).toMatch(/^pk-test-[A-Za-z0-9]{43}$/)
    expect(body.key.startsWith(body.key_prefix.slice(0, -1))).toBe(true)

    const read = await gateway.request('GET', `${KEYS}/${body.id}`)
    expect(read.status).toBe(200)
    expect(Object.keys(read.body).toSorted()).toEqual(KEY_FIELDS)
    expect(JSON.stringify(read.body)).not.toContain(body.key)
  })

  test('201: without a body, a personal key in the environment of its creator', async () => {
    const { status, body } = await gateway.request('POST', KEYS)
    expect(status).toBe(201)
    const environment = gateway.key.split('-')[1]
    expect(body).toMatchObject({
      env: environment,
      scopes: ['inference', 'manage'],
      allowed_models: null,
      limit_usd: null,
    })
  })

  test('201: the new key works at once', async () => {
    const { body } = await gateway.request('POST', KEYS, { body: { name: 'new' } })
    expect((await gateway.request('GET', '/v1/tenants/me', { key: body.key })).status).toBe(200)
  })

  test.each([
    ['env', { env: 'qa' }],
    ['name', { name: '' }],
    ['name', { name: 'zero\u0000byte' }],
    ['name', { name: 'x'.repeat(201) }],
    ['limit_usd', { limit_usd: 0.0000000001 }],
    ['limit_usd', { limit_usd: -1 }],
    ['limit_usd', { limit_usd: 1e300 }],
    ['limit_usd', { limit_usd: '5' }],
    ['requests_per_minute', { requests_per_minute: 0 }],
    ['requests_per_minute', { requests_per_minute: 1.5 }],
    ['expires_at', { expires_at: '2001-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: 'tomorrow' }],
    ['scopes', { scopes: [] }],
    ['scopes.0', { scopes: ['root'] }],
    ['allowed_models', { allowed_models: 'gpt-5' }],
  ])('400: %s is named for %j', async (param, body) => {
    const answer = await gateway.request('POST', KEYS, { body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_value', param })
  })

  test('403: a key cannot create one with a scope it lacks', async () => {
    const manager = await createKey(['inference', 'manage'])
    const { status, body } = await gateway.request('POST', KEYS, {
      key: manager.key,
      body: { scopes: ['admin'] },
    })
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })

  test('403: needs the scope manage', async () => {
    const plain = await createKey(['inference'])
    const { status, body } = await gateway.request('POST', KEYS, { key: plain.key })
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })

  test.each(['pii_mode', 'protection_level', 'limit_us'])(
    '400: %s is refused, because it is not supported',
    async (param) => {
      const created = await gateway.request('POST', KEYS, { body: { name: 'x', [param]: 'strict' } })
      expect([created.status, created.body.error.code, created.body.error.param]).toEqual([
        400,
        'unsupported_parameter',
        param,
      ])
      const { id } = await createKey(['inference'])
      const changed = await gateway.request('PATCH', `${KEYS}/${id}`, { body: { [param]: 'strict' } })
      expect([changed.status, changed.body.error.code]).toEqual([400, 'unsupported_parameter'])
    },
  )
})

describe('GET /v1/tenants/me/api-keys', () => {
  test('200: a key without the scope manage sees itself and no other', async () => {
    const plain = await createKey(['inference'])
    const other = await createKey(['inference'])
    const { status, body } = await gateway.request('GET', KEYS, { key: plain.key })
    expect([status, body.total, body.has_more]).toEqual([200, 1, false])
    expect(body.keys).toMatchObject([{ id: plain.id, scopes: ['inference'] }])
    expect((await gateway.request('GET', `${KEYS}/${plain.id}`, { key: plain.key })).status).toBe(200)
    expect((await gateway.request('GET', `${KEYS}/${other.id}`, { key: plain.key })).status).toBe(404)
  })

  test('200: pages have every key once, under both names, newest first', async () => {
    await createKey(['inference'])
    await createKey(['inference'])
    const seen: string[] = []
    let after = ''
    let total = -1
    do {
      const { status, body } = await gateway.request('GET', `${KEYS}?limit=2${after}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ object: 'list' })
      expect(body.keys).toEqual(body.data)
      expect(body.has_more).toBe(body.next_cursor !== null)
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      total = body.total
      after = body.next_cursor === null ? '' : `&after=${body.next_cursor}`
    } while (after !== '')
    expect(new Set(seen).size).toBe(total)
    expect(seen).toEqual(seen.toSorted().toReversed())
  })

  test.each([
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['limit', 'limit=many'],
    ['after', 'after=nowhere'],
  ])('400: %s is named for ?%s', async (param, query) => {
    const { status, body } = await gateway.request('GET', `${KEYS}?${query}`)
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'invalid_value', param })
  })
})

describe('PATCH /v1/tenants/me/api-keys/{id}', () => {
  test('200: changes the given members, and null removes a limit', async () => {
    const { id, key } = await createKey(['inference'])
    const set = await gateway.request('PATCH', `${KEYS}/${id}`, { body: { name: 'renamed', limit_usd: 5 } })
    expect([set.status, set.body.name, set.body.limit_usd]).toEqual([200, 'renamed', 5])
    const unset = await gateway.request('PATCH', `${KEYS}/${id}`, { body: { limit_usd: null } })
    expect(unset.body).toEqual({ ...set.body, limit_usd: null })
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(200)
  })

  test('200: is_active false stops the key, and reactivating it is 409', async () => {
    const { id, key } = await createKey(['inference'])
    const stopped = await gateway.request('PATCH', `${KEYS}/${id}`, { body: { is_active: false } })
    expect([stopped.status, stopped.body.is_active]).toEqual([200, false])
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(401)
    const started = await gateway.request('PATCH', `${KEYS}/${id}`, { body: { is_active: true } })
    expect([started.status, started.body.error.code]).toEqual([409, 'conflict'])
  })

  test('403: a key cannot grant itself a scope', async () => {
    const manager = await createKey(['inference', 'manage'])
    const { status, body } = await gateway.request('PATCH', `${KEYS}/${manager.id}`, {
      key: manager.key,
      body: { scopes: ['inference', 'manage', 'admin'] },
    })
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })

  test.each(['PATCH', 'DELETE'] as const)('403: %s of a key with more scopes', async (method) => {
    const manager = await createKey(['inference', 'manage'])
    const operator = await createKey(['inference', 'manage', 'admin'])
    const options = { key: manager.key, ...(method === 'PATCH' ? { body: { name: 'mine' } } : {}) }
    const { status, body } = await gateway.request(method, `${KEYS}/${operator.id}`, options)
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })
})

describe('DELETE /v1/tenants/me/api-keys/{id}', () => {
  test('200: the key is refused at once, stays listed, and may be revoked again', async () => {
    const { id, key } = await createKey(['inference'])
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(200)
    const revoked = await gateway.request('DELETE', `${KEYS}/${id}`)
    expect([revoked.status, revoked.body]).toEqual([200, { revoked: true, id }])
    const refused = await gateway.request('GET', '/v1/tenants/me', { key })
    expect([refused.status, refused.body.error.code]).toEqual([401, 'invalid_api_key'])
    expect((await gateway.request('GET', `${KEYS}/${id}`)).body.is_active).toBe(false)
    expect((await gateway.request('DELETE', `${KEYS}/${id}`)).body).toEqual({ revoked: true, id })
  })

  test.each(['GET', 'PATCH', 'DELETE'] as const)('404: %s of an unknown key', async (method) => {
    for (const id of ['01890000-0000-7000-8000-000000000000', 'not-a-uuid', 'a%2Fb']) {
      const options = method === 'PATCH' ? { body: {} } : {}
      const { status, body } = await gateway.request(method, `${KEYS}/${id}`, options)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  })
})

describe('GET /v1/tenants/me', () => {
  test.each(['inference', 'manage', 'admin'])(
    '200: the account with balance and limits, for a key of the scope %s alone',
    async (scope) => {
      const { body: own } = await gateway.request('GET', '/v1/tenants/me')
      expect(own).toMatchObject({ object: 'tenant', status: 'active', limits_tier: expect.any(String) })
      expect(typeof own.balance_usd).toBe('number')
      const { key, id } = await createKey([scope])
      const { status, body } = await gateway.request('GET', '/v1/tenants/me', { key })
      expect(status).toBe(200)
      expect(body).toMatchObject({ id: own.id, key: { id, scopes: [scope] } })
    },
  )
})

describe('several gateways on one database', () => {
  let other: TestGateway

  beforeAll(async () => {
    other = await startTestGateway({ connectionString: gateway.connectionString })
  })

  afterAll(async () => {
    await other.close()
  })

  test('a key revoked on one is refused by the other in the next request', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, key } = await createKey(['inference'])
      expect((await other.request('GET', '/v1/tenants/me', { key })).status).toBe(200)
      await gateway.request('DELETE', `${KEYS}/${id}`)
      expect((await other.request('GET', '/v1/tenants/me', { key })).status).toBe(401)
    }
  })

  test('a gateway stores the last use of its keys before it stops', async () => {
    const { id, key } = await createKey(['inference'])
    const stopping = await startTestGateway({ connectionString: gateway.connectionString })
    await stopping.request('GET', '/v1/tenants/me', { key })
    await stopping.close()
    const { body } = await gateway.request('GET', `${KEYS}/${id}`)
    expect(Date.parse(body.last_used_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at))
  })
})

async function createKey(scopes: string[]): Promise<{ id: string; key: string }> {
  const { status, body } = await gateway.request('POST', KEYS, { body: { name: 'a key', scopes } })
  expect(status).toBe(201)
  return { id: body.id, key: body.key }
}
