import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from './compare/start-compare-gateway.ts'
import { waitForRun } from './compare/wait-for-run.ts'
import { deploy, waitForStatus } from './deployments/deploy.ts'
import { waitForTask } from './generation/wait-for-task.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

/** Every resource of an account: how to create one, and every route with its id. Add an entry for each new resource. */
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
  {
    resource: 'file',
    collection: '/v1/files',
    created: { at: '/v1/files', body: { purpose: 'user_data', file: 'SGVsbG8=' } },
    list: '/v1/files',
    routes: [
      { method: 'GET', path: '' },
      { method: 'GET', path: '/content' },
      { method: 'DELETE', path: '' },
    ],
  },
  {
    resource: 'saved chat',
    collection: '/v1/saved-chats',
    created: {
      at: '/v1/saved-chats',
      body: { name: 'mine', visibility: 'project', content: { messages: [] } },
    },
    list: '/v1/saved-chats',
    routes: [
      { method: 'GET', path: '' },
      { method: 'PATCH', path: '', body: { name: 'yours' } },
      { method: 'DELETE', path: '' },
    ],
  },
  {
    resource: 'project',
    collection: '/v1/organization/projects',
    created: { at: '/v1/organization/projects', body: { name: 'mine' } },
    list: '/v1/organization/projects',
    routes: [
      { method: 'GET', path: '' },
      { method: 'POST', path: '', body: { name: 'yours' } },
      { method: 'POST', path: '/archive' },
      { method: 'GET', path: '/users' },
      { method: 'POST', path: '/users', body: { email: 'me@example.com', role: 'owner' } },
      { method: 'GET', path: '/service_accounts' },
      { method: 'POST', path: '/service_accounts', body: { name: 'yours' } },
      { method: 'GET', path: '/api_keys' },
    ],
  },
  {
    resource: 'invitation',
    collection: '/v1/organization/invites',
    created: { at: '/v1/organization/invites', body: { email: 'mine@example.com', role: 'reader' } },
    list: '/v1/organization/invites',
    routes: [
      { method: 'GET', path: '' },
      { method: 'DELETE', path: '' },
    ],
  },
] as const

let gateway: TestGateway
let stranger: string

beforeAll(async () => {
  gateway = await startTestGateway()
  // Even with the scope `admin`, the tenant routes do not give access to another account.
  stranger = await createStranger(gateway)
})

afterAll(async () => {
  await gateway.close()
})

for (const { resource, collection, created, list, routes } of RESOURCES) {
  for (const { method, path, ...options } of routes) {
    test(`${method} of another account's ${resource} is 404, like an unknown one, and changes nothing`, async () => {
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

  test(`a list has no ${resource} of another account, not even by its cursor`, async () => {
    const { body: mine } = await gateway.request('POST', created.at, { body: created.body })
    for (const query of ['?limit=100', `?limit=100&after=${mine.id}`]) {
      const { status, body } = await gateway.request('GET', `${list}${query}`, { key: stranger })
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain(mine.id)
    }
  })
}

/** Resources that take time to create, and every route with their id. Tested after their end, when they no longer change. */
const WORKS = [
  {
    resource: 'deployment',
    list: '/v1/deployments',
    routes: ['GET ', 'POST /start', 'POST /stop', 'GET /events', 'GET /billing', 'GET /logs', 'DELETE '],
    make: async () => {
      const id = await deploy(gateway)
      await gateway.request('POST', `/v1/deployments/${id}/stop`)
      await waitForStatus(gateway, id, 'stopped')
      return id
    },
  },
  {
    resource: 'task',
    list: '/v1/tasks',
    routes: ['GET ', 'POST /cancel', 'GET /webhook-deliveries'],
    make: async () => {
      const body = { model: 'flux-schnell', prompt: 'Mine' }
      const { body: receipt } = await gateway.request('POST', '/v1/images/generations', { body })
      await waitForTask(gateway, receipt.task_id)
      return String(receipt.task_id)
    },
  },
  {
    resource: 'compare run',
    list: '/v1/compare/runs',
    routes: [
      'GET ',
      'GET /results',
      'GET /stream',
      'GET /export',
      'POST /cancel',
      'POST /resume',
      'POST /save',
    ],
    make: async () => {
      const body = { prompt: 'Mine', models: ['gpt-4o-mini', 'gpt-5.4'] }
      const { body: run } = await gateway.request('POST', '/v1/compare/runs', { body })
      await waitForRun(gateway, run.id)
      return String(run.id)
    },
  },
]

describe.each(WORKS)("another account's $resource", ({ list, routes, make }) => {
  test('is 404 on every route, like an unknown one, in no list, and unchanged', async () => {
    const id = await make()
    const nobodysId = id.replace(/[0-9a-f]{8}$/, (end) => (end === 'ffffffff' ? '00000000' : 'ffffffff'))
    const before = await readUnsigned(`${list}/${id}`)
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ')
      const options = { key: stranger, ...(path === '/save' && { body: { name: 'yours' } }) }
      const theirs = await gateway.request(method, `${list}/${id}${path}`, options)
      const nobodys = await gateway.request(method, `${list}/${nobodysId}${path}`, options)
      expect([route, theirs.status, theirs.body.error?.code]).toEqual([route, 404, 'not_found'])
      expect(theirs.body.error.message).toBe(nobodys.body.error.message)
    }
    expect(await readUnsigned(`${list}/${id}`)).toBe(before)
    expect(JSON.stringify((await gateway.request('GET', `${list}?limit=100`)).body)).toContain(id)
    for (const query of ['?limit=100', `?limit=100&after=${id}`]) {
      const { body } = await gateway.request('GET', `${list}${query}`, { key: stranger })
      expect(JSON.stringify(body)).not.toContain(id)
    }
  })
})

/** Removes the signatures from file addresses, because they change with time. */
async function readUnsigned(path: string): Promise<string> {
  const { body } = await gateway.request('GET', path)
  return JSON.stringify(body).replaceAll(/\/media\/[\w-]+/g, '/media/…')
}

test('a waiting or running task cannot be cancelled by another account, but by its own', async () => {
  const body = { model: 'veo-3.1', prompt: '[[sandbox:latency ms=600000]] Mine', duration: 4 }
  const { body: receipt } = await gateway.request('POST', '/v1/videos/generations', { body })
  const at = `/v1/tasks/${receipt.task_id}`
  const theirs = await gateway.request('POST', `${at}/cancel`, { key: stranger })
  expect([theirs.status, theirs.body.error.code]).toEqual([404, 'not_found'])
  expect(['queued', 'pending', 'processing', 'running']).toContain(
    (await gateway.request('GET', at)).body.status,
  )
  const own = await gateway.request('POST', `${at}/cancel`)
  expect([own.status, own.body.status]).toEqual([200, 'cancelled'])
})

test('an account can read itself and no other', async () => {
  const { body: own } = await gateway.request('GET', '/v1/tenants/me')
  const { body: theirs } = await gateway.request('GET', '/v1/tenants/me', { key: stranger })
  expect(theirs.id).not.toBe(own.id)
  expect(theirs.name).toBe('stranger')
})

test('a request of one account is not in the usage of another', async () => {
  const [owner, other] = [await createStranger(gateway, 1), await createStranger(gateway)]
  const { status, headers } = await gateway.request('POST', '/v1/chat/completions', {
    key: owner,
    body: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'Mine' }], max_tokens: 5 },
  })
  expect(status).toBe(200)
  const { body: own } = await gateway.request('GET', '/v1/usage/records', { key: owner })
  expect(own.data[0].request_id).toBe(headers.get('x-request-id'))
  for (const query of ['', '?after=ffffffff-ffff-ffff-ffff-ffffffffffff', `?key=${own.data[0].key_id}`]) {
    const { body } = await gateway.request('GET', `/v1/usage/records${query}`, { key: other })
    expect([body.data, body.total]).toEqual([[], 0])
  }
  for (const path of ['summary', 'today', 'spending']) {
    const { body } = await gateway.request('GET', `/v1/usage/${path}`, { key: other })
    expect([path, body.requests]).toEqual([path, 0])
  }
})

test('the usage records of an account are only its own', async () => {
  const other = await createStranger(gateway)
  const ask = (key: string) => gateway.request('POST', '/v1/moderations', { key, body: { input: 'Hi' } })
  // Our request lies between two requests of the other account, so it is within that account's time range.
  const first = await ask(other)
  const ours = await ask(gateway.key)
  const second = await ask(other)
  expect([first.status, ours.status, second.status]).toEqual([200, 200, 200])
  const { body } = await gateway.request('GET', '/v1/usage/records?limit=100', { key: other })
  const found = body.data.map(({ request_id: id }: { request_id: string }) => id)
  expect(found).toEqual([second, first].map(({ headers }) => headers.get('x-request-id')))
  expect(body.total).toBe(2)
})
