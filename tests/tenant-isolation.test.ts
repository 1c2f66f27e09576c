import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

/** Everything that belongs to an account: how to make one, and every route that names it. A new resource adds a line. */
const RESOURCES = [
  {
    resource: 'API key',
    collection: '/v1/tenants/me/api-keys',
    created: { at: '/v1/tenants/me/api-keys', body: { name: 'mine' } },
    list: '/v1/tenants/me/api-keys',
    routes: [
      { method: 'GET', path: '' },
      { method: 'PATCH', path: '', body: { name: 'yours' } },
      { method: 'DELETE', path: '' },
    ],
  },
  {
    resource: 'payment',
    collection: '/v1/payments',
    created: { at: '/v1/payments/checkout', body: { amount_usd: 5 } },
    list: '/v1/payments/history',
    routes: [{ method: 'GET', path: '' }],
  },
  {
    resource: 'dataset',
    collection: '/v1/compare/datasets',
    created: { at: '/v1/compare/datasets', body: { name: 'mine', prompts: ['Hi'] } },
    list: '/v1/compare/datasets',
    routes: [
      { method: 'GET', path: '' },
      { method: 'PATCH', path: '', body: { name: 'yours' } },
      { method: 'DELETE', path: '' },
    ],
  },
  {
    resource: 'conversation',
    collection: '/v1/compare/conversations',
    created: { at: '/v1/compare/conversations', body: { models: ['gpt-4o-mini', 'gpt-5.4'] } },
    list: '/v1/compare/conversations',
    routes: [
      { method: 'GET', path: '' },
      { method: 'PATCH', path: '', body: { name: 'yours' } },
      { method: 'DELETE', path: '' },
      { method: 'POST', path: '/turns', body: { content: 'Hi' } },
    ],
  },
] as const

let gateway: TestGateway
let stranger: string

beforeAll(async () => {
  gateway = await startTestGateway()
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'stranger' },
  })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    // Even the operator's scope does not reach into another account through the tenant's own routes.
    body: { scopes: ['inference', 'manage', 'admin'] },
  })
  stranger = key.key
})

afterAll(async () => {
  await gateway.close()
})

for (const { resource, collection, created, list, routes } of RESOURCES) {
  for (const { method, path, ...options } of routes) {
    test(`${method} of another account's ${resource} is 404, like one that never was, and changes nothing`, async () => {
      const { body: mine } = await gateway.request('POST', created.at, { body: created.body })
      const before = await gateway.request('GET', `${collection}/${mine.id}`)
      const theirs = await gateway.request(method, `${collection}/${mine.id}${path}`, {
        key: stranger,
        ...options,
      })
      const nobodys = await gateway.request(
        method,
        `${collection}/01890000-0000-7000-8000-000000000000${path}`,
        {
          key: stranger,
          ...options,
        },
      )
      expect([theirs.status, theirs.body.error.code]).toEqual([404, 'not_found'])
      expect(theirs.body.error.message).toBe(nobodys.body.error.message)
      expect((await gateway.request('GET', `${collection}/${mine.id}`)).body).toEqual(before.body)
    })
  }

  test(`a list holds no ${resource} of another account, not even by its cursor`, async () => {
    const { body: mine } = await gateway.request('POST', created.at, { body: created.body })
    for (const query of ['?limit=100', `?limit=100&after=${mine.id}`]) {
      const { status, body } = await gateway.request('GET', `${list}${query}`, { key: stranger })
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain(mine.id)
    }
  })
}

test('an account reads itself and no other', async () => {
  const { body: own } = await gateway.request('GET', '/v1/tenants/me')
  const { body: theirs } = await gateway.request('GET', '/v1/tenants/me', { key: stranger })
  expect(theirs.id).not.toBe(own.id)
  expect(theirs.name).toBe('stranger')
})

test('a request of one account is in no usage of another', async () => {
  const { status, headers } = await gateway.request('POST', '/v1/chat/completions', {
    body: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'Mine' }], max_tokens: 5 },
  })
  expect(status).toBe(200)
  const { body: own } = await gateway.request('GET', '/v1/usage/records')
  expect(own.data[0].request_id).toBe(headers.get('x-request-id'))
  for (const query of ['', '?after=ffffffff-ffff-ffff-ffff-ffffffffffff', `?key=${own.data[0].key_id}`]) {
    const { body } = await gateway.request('GET', `/v1/usage/records${query}`, { key: stranger })
    expect([body.data, body.total]).toEqual([[], 0])
  }
  for (const path of ['summary', 'today', 'spending']) {
    const { body } = await gateway.request('GET', `/v1/usage/${path}`, { key: stranger })
    expect([path, body.requests]).toEqual([path, 0])
  }
})
