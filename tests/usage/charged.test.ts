import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startUsageGateway, type UsageGateway } from './start-usage-gateway.ts'

let gateway: UsageGateway

beforeAll(async () => {
  gateway = await startUsageGateway()
})

afterAll(async () => {
  await gateway.close()
})

const chat = (key: string, stream = false) =>
  gateway.request('POST', '/v1/chat/completions', {
    key,
    body: {
      model: 'gpt-5.4',
      messages: [{ role: 'user', content: 'Tell me of usage.' }],
      max_tokens: 20,
      stream,
    },
  })

test('the cost of a chat is in every usage route once its answer has ended', async () => {
  const owner = await createStranger(gateway, 10)
  const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    key: owner,
    body: { name: 'counted', limit_usd: 5 },
  })
  const answer = await chat(key.key)
  const { body: before } = await gateway.get('/v1/usage/budget', owner)
  const streamed = await chat(key.key, true)
  expect([answer.status, streamed.status]).toEqual([200, 200])
  const cost: number = answer.body.usage.cost_usd
  expect(cost).toBeGreaterThan(0)

  const { body: records } = await gateway.get(`/v1/usage/records?key=${key.id}`, owner)
  expect(records.total).toBe(2)
  const [last, first] = records.data
  expect(first).toMatchObject({
    request_id: answer.headers.get('x-request-id'),
    key_id: key.id,
    env: 'dev',
    model: 'gpt-5.4',
    provider: 'sandbox',
    outcome: 'completed',
    prompt_tokens: answer.body.usage.prompt_tokens,
    completion_tokens: answer.body.usage.completion_tokens,
    cost_usd: cost,
  })
  expect(Number.isInteger(first.latency_ms)).toBe(true)
  expect(last.request_id).toBe(streamed.headers.get('x-request-id'))
  expect(Number.isInteger(last.ttft_ms)).toBe(true)

  const total = first.cost_usd + last.cost_usd
  const near = expect.closeTo(total, 9)
  const spending = await gateway.get('/v1/usage/spending?by=key', owner)
  expect(spending.body.data).toMatchObject([{ value: key.id, name: 'counted', requests: 2, cost_usd: near }])
  const series = await gateway.get(`/v1/usage/timeseries?key=${key.id}`, owner)
  expect(series.body.data.at(-1).requests + series.body.data.at(-2).requests).toBe(2)
  const summary = await gateway.get('/v1/usage/summary?window=24h&provider=sandbox', owner)
  expect(summary.body).toMatchObject({ requests: 2, cost_usd: near })

  const { body: after } = await gateway.get('/v1/usage/budget', owner)
  expect(after).toMatchObject({ spent_usd: near, burn_rate_usd_per_hour: near, limit_usd: 10 })
  expect(after.balance_usd).toBeCloseTo(10 - total, 9)
  expect(after.version).not.toBe(before.version)
})

test('a key shows its spending, to its account and to the operator', async () => {
  const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'spender' },
  })
  expect(key.spent_usd).toBe(0)
  const { body } = await chat(key.key)
  const spent = expect.closeTo(body.usage.cost_usd, 9)
  const keys = '/v1/tenants/me/api-keys'
  expect((await gateway.get(`${keys}/${key.id}`)).body.spent_usd).toEqual(spent)
  const renamed = await gateway.request('PATCH', `${keys}/${key.id}`, { body: { name: 'renamed' } })
  expect(renamed.body.spent_usd).toEqual(spent)
  for (const path of [keys, `/v1/admin/accounts/${gateway.accountId}/api-keys`]) {
    const { body: list } = await gateway.get(path)
    const own = list.data.find(({ id }: { id: string }) => id === key.id)
    expect(own.spent_usd).toEqual(spent)
    expect(list.data.every(({ spent_usd }: { spent_usd: unknown }) => typeof spent_usd === 'number')).toBe(
      true,
    )
  }
})

test('usage of two gateways on one database is added up by either', async () => {
  const other = await startTestGateway({ connectionString: gateway.connectionString })
  try {
    const { body: before } = await gateway.get('/v1/usage/summary')
    for (const one of [gateway, other]) {
      const { status } = await one.request('POST', '/v1/chat/completions', {
        body: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 },
      })
      expect(status).toBe(200)
    }
    for (const one of [gateway, other]) {
      const { body } = await one.request('GET', '/v1/usage/summary')
      expect(body.requests).toBe(before.requests + 2)
    }
  } finally {
    await other.close()
  }
})
