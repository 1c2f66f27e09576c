import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitForTask } from './generation/wait-for-task.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from './support/start-test-gateway.ts'

/** Amounts that no price, no other figure and no id has. */
const CREDIT_USD = 731_925.25
const BUDGET_USD = 641_753.5
const READ_MS_MAX = 10_000

let gateway: TestGateway
let manager: Made
let worker: Made
let managersRequestId: string
let managersTaskId: string
let workersRequestId: string

interface Made {
  readonly id: string
  readonly key: string
}

beforeAll(async () => {
  gateway = await startTestGateway()
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'Ada', credit_usd: CREDIT_USD },
  })
  manager = (await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`)).body
  const limits = { scopes: ['inference'], allowed_models: ['gpt-4o-mini', 'gpt-4o'] }
  worker = (await gateway.request('POST', '/v1/tenants/me/api-keys', { key: manager.key, body: limits })).body
  await gateway.request('PATCH', `/v1/admin/accounts/${account.id}/budget`, {
    body: { monthly_usd: BUDGET_USD },
  })

  managersRequestId = requestIdOf(await chat(manager, 'gpt-4.1'))
  const image = { model: 'flux-schnell', prompt: 'A secret lighthouse' }
  const webhook = { webhook_url: 'https://hooks.example.com/secret' }
  const { body: task } = await gateway.request('POST', '/v1/images/generations', {
    key: manager.key,
    body: { ...image, ...webhook },
    headers: { prefer: 'respond-async' },
  })
  managersTaskId = task.task_id
  await waitForTask(gateway, managersTaskId, manager.key)
  const run = { prompt: 'A secret harbour', models: ['gpt-4.1', 'gpt-4o'] }
  await gateway.request('POST', '/v1/compare/runs', { key: manager.key, body: run })
  workersRequestId = requestIdOf(await chat(worker, 'gpt-4o-mini'))
})

afterAll(() => gateway.close())

async function chat({ key }: Made, model: string): Promise<TestAnswer> {
  const body = { model, messages: [{ role: 'user', content: 'Hello there.' }], max_tokens: 20 }
  const answer = await gateway.request('POST', '/v1/chat/completions', { key, body })
  expect(answer.status).toBe(200)
  return answer
}

function requestIdOf({ headers }: TestAnswer): string {
  return headers.get('x-request-id') ?? ''
}

const read = (path: string, { key }: Made = worker): Promise<TestAnswer> =>
  gateway.request('GET', path, { key })

test('no route shows a key without manage what other keys of its account did, nor what the account has', async () => {
  const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })
  const secrets = [
    manager.id,
    managersRequestId,
    managersRequestId.slice('req_'.length),
    managersTaskId,
    'A secret',
    'hooks.example.com',
    // Less than a dollar was spent.
    '731925.',
    '731924.',
    '641753.5',
  ]
  const paths = Object.entries(document.paths as Record<string, Record<string, unknown>>)
    .filter(([path, methods]) => 'get' in methods && path.startsWith('/v1/') && !path.includes('{'))
    .map(([path]) => path)
  const open: string[] = []
  for (const path of paths) {
    const signal = AbortSignal.timeout(READ_MS_MAX)
    const { status, body } = await gateway.request('GET', path, { key: worker.key, signal })
    expect([path, status < 500]).toEqual([path, true])
    if (status === 200) open.push(path)
    const text = JSON.stringify(body)
    for (const secret of secrets)
      expect({ path, hasSecret: text.includes(secret) }).toEqual({ path, hasSecret: false })
  }
  // The walk is of worth only where it reads something.
  expect(open).toEqual(
    expect.arrayContaining([
      '/v1/tenants/me',
      '/v1/usage/summary',
      '/v1/requests',
      '/v1/usage/records',
      '/v1/tasks',
    ]),
  )
})

test('the usage of a key without manage is its own, also where another key is asked for', async () => {
  const { body: own } = await read('/v1/usage/summary')
  const { body: all } = await read('/v1/usage/summary', manager)
  expect(own.requests).toBe(1)
  expect(own.cost_usd).toBeGreaterThan(0)
  expect(all.requests).toBeGreaterThan(2)
  const query = `?key=${manager.id}`
  for (const path of ['summary', 'today', 'timeseries', 'spending', 'latency', 'records']) {
    const { status, body } = await read(`/v1/usage/${path}${query}`)
    expect([path, status]).toEqual([path, 200])
    const counted = path === 'timeseries' ? sumOf(body.data) : path === 'records' ? body.total : body.requests
    expect([path, counted]).toEqual([path, 0])
  }
  expect(
    (await read('/v1/usage/spending?by=key')).body.data.map(({ value }: { value: string }) => value),
  ).toEqual([worker.id])
  const burnRate = (await read('/v1/usage/today')).body.burn_rate_usd_per_hour
  expect(burnRate).toBe(own.cost_usd)
  expect((await read('/v1/usage/latency')).body.requests).toBe(1)
})

function sumOf(buckets: readonly { readonly requests: number }[]): number {
  return buckets.reduce((sum, { requests }) => sum + requests, 0)
}

test('the log of a key without manage has its own requests, and those of others are unknown to it', async () => {
  const { body: log } = await read('/v1/requests')
  expect(log.data.map(({ request_id: id }: { request_id: string }) => id)).toEqual([workersRequestId])
  expect((await read(`/v1/requests?request_id=${managersRequestId}`)).body.data).toEqual([])
  expect((await read(`/v1/requests/${workersRequestId}`)).status).toBe(200)
  const theirs = await read(`/v1/requests/${managersRequestId}`)
  const nobodys = await read('/v1/requests/req_01890000000070008000000000000000')
  expect([theirs.status, theirs.body.error.message]).toEqual([404, nobodys.body.error.message])
  expect((await read('/v1/usage/records')).body.data).toHaveLength(1)
})

test('failed requests of other keys are not in its log', async () => {
  const body = { model: 'no-such-model', messages: [{ role: 'user', content: 'Hi' }] }
  const failed = await gateway.request('POST', '/v1/chat/completions', { key: manager.key, body })
  const id = requestIdOf(failed)
  await expect.poll(async () => (await read(`/v1/requests/${id}`, manager)).status).toBe(200)
  expect((await read(`/v1/requests/${id}`)).status).toBe(404)
})

test('the budget of a key without manage is its own limit and spending', async () => {
  const { body: budget } = await read('/v1/usage/budget')
  const spentUsd = (await read('/v1/usage/summary')).body.cost_usd
  expect(budget).toMatchObject({
    limit_usd: null,
    remaining_usd: null,
    balance_usd: null,
    held_usd: null,
    spent_usd: spentUsd,
    burn_rate_usd_per_hour: spentUsd,
    budgets: [],
  })
  await gateway.request('PATCH', `/v1/tenants/me/api-keys/${worker.id}`, {
    key: manager.key,
    body: { limit_usd: 2 },
  })
  const { body: limited } = await read('/v1/usage/budget')
  expect(limited).toMatchObject({ limit_usd: 2, remaining_usd: Number((2 - spentUsd).toFixed(9)) })
  expect(limited.version).not.toBe(budget.version)
})

test('a key with manage reads the figures of the account', async () => {
  expect((await read('/v1/tenants/me', manager)).body.balance_usd).toBeGreaterThan(CREDIT_USD - 1)
  expect((await read('/v1/usage/budget', manager)).body).toMatchObject({ limit_usd: BUDGET_USD })
  expect((await read('/v1/tasks', manager)).body.data).toHaveLength(1)
  expect((await read('/v1/webhook-deliveries', manager)).body.total).toBe(1)
  expect((await read('/v1/compare/runs', manager)).body.total).toBe(1)
})

test.each([
  ['a chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 4096 }],
  ['a picture', '/v1/images/generations', { prompt: 'A lighthouse' }],
])(
  '%s that credit does not cover is refused without the amounts of the account',
  async (_what, path, order) => {
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'Poor', credit_usd: 0.000000731 },
    })
    const { body: owner } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`)
    const { body: limited } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      key: owner.key,
      body: { scopes: ['inference'] },
    })
    const model = path.includes('images') ? 'flux-schnell' : 'gpt-4.1'
    const refused = await gateway.request('POST', path, { key: limited.key, body: { model, ...order } })
    expect([refused.status, refused.body.error.code]).toEqual([402, 'insufficient_balance'])
    expect(refused.body.error.message).not.toMatch(/\d/)
    const told = await gateway.request('POST', path, { key: owner.key, body: { model, ...order } })
    expect(told.body.error.message).toContain('0.000000731')
  },
)
