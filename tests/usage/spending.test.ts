import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { writeUsage } from '../../src/modules/usage/testing/write-usage.ts'
import { BAD_RANGES, expectInvalid, startUsageGateway, type UsageGateway } from './start-usage-gateway.ts'

let gateway: UsageGateway

beforeAll(async () => {
  gateway = await startUsageGateway()
})

beforeEach(async () => {
  await gateway.forget()
})

afterAll(async () => {
  await gateway.close()
})

const RANGE = 'from=2026-11-11T00:00:00Z&to=2026-11-12T00:30:00Z'
const at = '2026-11-11T10:00:00Z'

interface Group {
  readonly value: string
  readonly cost_usd: number
  readonly share: number
}

const sumShares = (body: { data: Group[]; other: { share: number } }) =>
  [...body.data, body.other].reduce((sum, { share }) => sum + Math.round(share * 1e6), 0)

describe('GET /v1/usage/spending', () => {
  test('200: by model, the most expensive first, with shares that add up to one', async () => {
    await gateway.write([
      { at, model: 'small', costNanoUsd: 1_000n },
      { at: '2026-11-12T00:29:59.999Z', model: 'large', costNanoUsd: 1_500n, promotionalNanoUsd: 500n },
      { at: '2026-11-12T00:30:00.000Z', model: 'large', costNanoUsd: 9_000n },
      { at, model: 'large', costNanoUsd: 500n },
    ])
    const { status, body } = await gateway.get(`/v1/usage/spending?${RANGE}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'usage.spending',
      tenant_id: gateway.accountId,
      by: 'model',
      requests: 3,
      cost_usd: 0.000003,
      promotional_usd: 0.0000005,
    })
    expect(body.data).toEqual([
      {
        value: 'large',
        name: 'large',
        requests: 2,
        prompt_tokens: 20,
        cached_tokens: 0,
        cache_write_tokens: 0,
        completion_tokens: 10,
        reasoning_tokens: 0,
        total_tokens: 30,
        cost_usd: 0.000002,
        promotional_usd: 0.0000005,
        share: 0.666667,
      },
      expect.objectContaining({ value: 'small', cost_usd: 0.000001, share: 0.333333 }),
    ])
    expect(body.other).toMatchObject({ groups: 0, requests: 0, cost_usd: 0, share: 0 })
  })

  test('200: beyond the limit the rest is one line, and nothing is lost', async () => {
    await gateway.write(
      [1n, 2n, 3n, 4n].map((cost) => ({ at, provider: `p${cost}`, costNanoUsd: cost * 1_000n })),
    )
    const { body } = await gateway.get(`/v1/usage/spending?by=provider&limit=2&${RANGE}`)
    expect(body.data.map(({ value }: Group) => value)).toEqual(['p4', 'p3'])
    expect(body.other).toMatchObject({ groups: 2, requests: 2, cost_usd: 0.000003, share: 0.3 })
    expect([body.cost_usd, sumShares(body)]).toEqual([0.00001, 1_000_000])
  })

  test('200: by key with its name, and by environment', async () => {
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'nightly', env: 'live' },
    })
    await gateway.write([{ at, keyId: key.id, environment: 'live' }])
    const byKey = await gateway.get(`/v1/usage/spending?by=key&${RANGE}`)
    expect(byKey.body.data).toMatchObject([{ value: key.id, name: 'nightly', share: 1 }])
    const byEnvironment = await gateway.get(`/v1/usage/spending?by=env&${RANGE}`)
    expect(byEnvironment.body.data).toMatchObject([{ value: 'live', name: 'live', share: 1 }])
  })

  test('200: free usage has no share', async () => {
    await gateway.write([{ at, costNanoUsd: 0n }])
    const { body } = await gateway.get(`/v1/usage/spending?${RANGE}`)
    expect(body.data).toMatchObject([{ requests: 1, cost_usd: 0, share: 0 }])
  })

  test('200: another account sees nothing', async () => {
    await gateway.write([{ at }])
    const { body } = await gateway.get(`/v1/usage/spending?by=key&${RANGE}`, gateway.strangerKey)
    expect([body.requests, body.data]).toEqual([0, []])
  })

  test.each([...BAD_RANGES, ['by', 'by=day'], ['limit', 'limit=0'], ['limit', 'limit=101']] as const)(
    '400: %s is named for ?%s',
    async (param, query) => {
      expectInvalid(await gateway.get(`/v1/usage/spending?${query}`), param)
    },
  )
})

describe('GET /v1/usage/gpu-billing', () => {
  test('200: an account without deployments has paid for none', async () => {
    await gateway.write([{ at: new Date().toISOString() }])
    const { status, body } = await gateway.get('/v1/usage/gpu-billing')
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'usage.gpu_billing',
      tenant_id: gateway.accountId,
      from: expect.any(String),
      to: expect.any(String),
      cost_usd: 0,
      promotional_usd: 0,
      burn_rate_usd_per_hour: 0,
      data: [],
    })
  })

  test('200: charges for GPUs, by deployment', async () => {
    const now = new Date().toISOString()
    await gateway.write([
      { at: now, operation: 'gpu', model: 'byom-1', costNanoUsd: 3_000n },
      { at: now, operation: 'gpu', model: 'byom-2', costNanoUsd: 1_000n },
      { at: now, operation: 'chat', model: 'byom-1', costNanoUsd: 9_000n },
    ])
    const { body } = await gateway.get('/v1/usage/gpu-billing')
    expect(body).toMatchObject({
      cost_usd: 0.000004,
      burn_rate_usd_per_hour: 0.000004,
      data: [
        { model_id: 'byom-1', cost_usd: 0.000003, promotional_usd: 0, share: 0.75 },
        { model_id: 'byom-2', cost_usd: 0.000001, promotional_usd: 0, share: 0.25 },
      ],
    })
  })

  test.each(BAD_RANGES)('400: %s is named for ?%s', async (param, query) => {
    expectInvalid(await gateway.get(`/v1/usage/gpu-billing?${query}`), param)
  })
})

describe('GET /v1/admin/usage', () => {
  test('200: spending of all accounts, the most expensive first, exact at the edges', async () => {
    await gateway.write([
      { at, costNanoUsd: 1_000n },
      { at: '2026-11-12T00:29:59.999Z', costNanoUsd: 2_000n },
      { at: '2026-11-12T00:30:00.000Z', costNanoUsd: 99_000n },
    ])
    await writeUsage(gateway.database, [
      { accountId: gateway.strangerId, at, model: 'x', costNanoUsd: 9_000n },
    ])
    const { status, body } = await gateway.get(`/v1/admin/usage?${RANGE}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ object: 'usage.accounts', requests: 3, cost_usd: 0.000012 })
    expect(body.data).toMatchObject([
      { tenant_id: gateway.strangerId, name: 'stranger', requests: 1, cost_usd: 0.000009, share: 0.75 },
      { tenant_id: gateway.accountId, requests: 2, cost_usd: 0.000003, share: 0.25 },
    ])
    const top = await gateway.get(`/v1/admin/usage?limit=1&${RANGE}`)
    expect(top.body.data).toHaveLength(1)
    expect(top.body.other).toMatchObject({ groups: 1, cost_usd: 0.000003, share: 0.25 })
    const filtered = await gateway.get(`/v1/admin/usage?model=x&${RANGE}`)
    expect(filtered.body).toMatchObject({ requests: 1, data: [{ tenant_id: gateway.strangerId }] })
  })

  test.each([...BAD_RANGES, ['limit', 'limit=101'], ['env', 'env=qa']] as const)(
    '400: %s is named for ?%s',
    async (param, query) => {
      expectInvalid(await gateway.get(`/v1/admin/usage?${query}`), param)
    },
  )

  test('403: for a key without the scope admin', async () => {
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { scopes: ['inference', 'manage'] },
    })
    const { status, body } = await gateway.get('/v1/admin/usage', key.key)
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })
})
