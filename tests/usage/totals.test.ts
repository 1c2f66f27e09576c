import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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

const NOTHING = {
  requests: 0,
  prompt_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  completion_tokens: 0,
  reasoning_tokens: 0,
  total_tokens: 0,
  cost_usd: 0,
  promotional_usd: 0,
}

const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
const HOUR_MS = 3_600_000

describe('GET /v1/usage/budget', () => {
  test('200: the documented fields, with consistent numbers', async () => {
    await gateway.write([{ at: ago(0), costNanoUsd: 250_000_001n }])
    const { status, body } = await gateway.get('/v1/usage/budget')
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'usage.budget',
      tenant_id: gateway.accountId,
      limit_usd: 10.250000001,
      spent_usd: 0.250000001,
      remaining_usd: 10,
      held_usd: 0,
      balance_usd: 10,
      burn_rate_usd_per_hour: 0.250000001,
      period_start: expect.stringMatching(/-01T00:00:00\.000Z$/),
      period_end: expect.stringMatching(/-01T00:00:00\.000Z$/),
      budgets: [],
      limiting_budgets: [],
      outlook: {
        summary: 'At the rate of the last hour the balance lasts 39 h.',
        limit: 'balance',
        budget: null,
        reached_at: expect.stringMatching(/Z$/),
        resets_at: null,
        balance_lasts_until: expect.stringMatching(/Z$/),
      },
      forecast: null,
      anomaly: null,
      updated_at: expect.stringMatching(/Z$/),
      version: expect.any(Number),
    })
    expect(Number.isInteger(body.version)).toBe(true)
  })

  test('200: the month is forecast from the days before, and today says what ends first as the budget does', async () => {
    for (const days of [1, 2, 3, 4])
      await gateway.write([{ at: ago(days * 24 * HOUR_MS), costNanoUsd: 1_000_000_000n }])
    await gateway.write([{ at: ago(0), costNanoUsd: 20_000_000_000n }])
    const { body } = await gateway.get('/v1/usage/budget')
    const { forecast, period_end: end, spent_usd: spent } = body
    const daysLeft = (Date.parse(end) - Date.now()) / 24 / HOUR_MS
    expect([forecast.days, forecast.confidence]).toEqual([4, 0.8])
    expect(forecast.spent_usd).toBeCloseTo(spent + daysLeft, 2)
    expect([forecast.low_usd, forecast.high_usd]).toEqual([forecast.spent_usd, forecast.spent_usd])
    const { body: today } = await gateway.get('/v1/usage/today')
    expect(today.outlook).toMatchObject({ summary: body.outlook.summary, limit: body.outlook.limit })
  })

  test('200: the version changes with a charge and not without', async () => {
    const version = async () => (await gateway.get('/v1/usage/budget')).body.version
    const before = await version()
    expect(await version()).toBe(before)
    await gateway.write([{ at: ago(0), costNanoUsd: 1n }])
    expect(await version()).not.toBe(before)
  })

  test('200: another account sees nothing of it', async () => {
    await gateway.write([{ at: ago(0), costNanoUsd: 250_000_000n }])
    const { body } = await gateway.get('/v1/usage/budget', gateway.strangerKey)
    expect(body).toMatchObject({
      tenant_id: gateway.strangerId,
      limit_usd: 0,
      spent_usd: 0,
      remaining_usd: 0,
      burn_rate_usd_per_hour: 0,
    })
  })
})

describe('GET /v1/usage/summary', () => {
  test('200: a part of the calendar, in UTC and in a time zone', async () => {
    await gateway.write([{ at: ago(0), costNanoUsd: 5_000n }])
    for (const zone of ['', '&time_zone=Pacific/Auckland']) {
      const { body } = await gateway.get(`/v1/usage/summary?window=this_month${zone}`)
      const first = zone === '' ? 'UTC' : 'Pacific/Auckland'
      const text = new Date(body.from).toLocaleString('sv-SE', { timeZone: first })
      expect([body.window, body.requests, text.slice(7)]).toEqual(['this_month', 1, '-01 00:00:00'])
    }
    const { body } = await gateway.get('/v1/usage/summary?window=last_month')
    expect([body.requests, body.to.slice(7)]).toEqual([0, '-01T00:00:00.000Z'])
  })

  test('200: totals, averages and the previous period', async () => {
    await gateway.write([
      { at: '2026-11-10T23:59:59.999Z', costNanoUsd: 5_000n, promptTokens: 100, completionTokens: 50 },
      {
        at: '2026-11-11T00:00:00.000Z',
        costNanoUsd: 7_000n,
        promotionalNanoUsd: 2_000n,
        promptTokens: 100,
        cachedTokens: 40,
        cacheWriteTokens: 30,
        completionTokens: 60,
        reasoningTokens: 20,
        writer: 1,
      },
      {
        at: '2026-11-11T23:59:59.999Z',
        costNanoUsd: 3_000n,
        promptTokens: 10,
        completionTokens: 5,
        writer: 2,
      },
      { at: '2026-11-12T00:00:00.000Z', costNanoUsd: 1n },
    ])
    const { status, body } = await gateway.get(
      '/v1/usage/summary?from=2026-11-11T00:00:00Z&to=2026-11-12T00:00:00Z',
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'usage.summary',
      tenant_id: gateway.accountId,
      window: null,
      from: '2026-11-11T00:00:00.000Z',
      to: '2026-11-12T00:00:00.000Z',
      requests: 2,
      prompt_tokens: 110,
      cached_tokens: 40,
      cache_write_tokens: 30,
      cache_hit_rate: 0.363636364,
      completion_tokens: 65,
      reasoning_tokens: 20,
      total_tokens: 175,
      cost_usd: 0.00001,
      promotional_usd: 0.000002,
      averages: {
        cost_usd_per_request: 0.000005,
        tokens_per_request: 87.5,
        requests_per_hour: 0.083333333,
        cost_usd_per_hour: expect.closeTo(0.00001 / 24, 9),
      },
      previous: {
        ...NOTHING,
        from: '2026-11-10T00:00:00.000Z',
        to: '2026-11-11T00:00:00.000Z',
        requests: 1,
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        cost_usd: 0.000005,
        cache_hit_rate: 0,
      },
      change: { requests: 1, total_tokens: 0.166666667, cost_usd: 1 },
    })
  })

  test.each([
    ['24h', 24],
    ['7d', 7 * 24],
    ['30d', 30 * 24],
  ])('200: a window of %s ends now and is exact at its beginning', async (window, hours) => {
    await gateway.write([
      { at: ago(hours * HOUR_MS + 2_000), costNanoUsd: 1n },
      { at: ago(hours * HOUR_MS - 60_000), costNanoUsd: 2n },
      { at: ago(0), costNanoUsd: 4n },
    ])
    const { body } = await gateway.get(`/v1/usage/summary?window=${window}`)
    expect([body.window, body.requests, body.cost_usd]).toEqual([window, 2, 0.000000006])
    expect(body.previous.requests).toBe(1)
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(hours * HOUR_MS)
  })

  test('200: no usage gives zeros, and no change compared with zero', async () => {
    const { body } = await gateway.get('/v1/usage/summary')
    expect(body).toMatchObject({
      ...NOTHING,
      window: '30d',
      averages: {
        cost_usd_per_request: 0,
        tokens_per_request: 0,
        requests_per_hour: 0,
        cost_usd_per_hour: 0,
      },
      change: { requests: null, total_tokens: null, cost_usd: null },
    })
  })

  test('200: filters apply, and a time may have an offset', async () => {
    await gateway.write([
      { at: '2026-11-11T22:30:00Z', model: 'a', provider: 'x' },
      { at: '2026-11-11T22:30:00Z', model: 'b', provider: 'x' },
      { at: '2026-11-12T22:30:00Z', model: 'b', provider: 'x' },
    ])
    const range = `from=${encodeURIComponent('2026-11-12T00:00:00+02:00')}&to=2026-11-12T22:00:00Z`
    const requests = async (query: string) =>
      (await gateway.get(`/v1/usage/summary?${range}&${query}`)).body.requests
    expect(await requests('model=b')).toBe(1)
    expect(await requests('provider=x')).toBe(2)
    expect(await requests('env=live')).toBe(0)
    expect(await requests('key=01890000-0000-7000-8000-00000000000A')).toBe(2)
  })

  test('200: a key without manage reads only its own, and another account sees nothing', async () => {
    await gateway.write([{ at: ago(1000) }])
    const { body: plain } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { scopes: ['inference'] },
    })
    expect((await gateway.get('/v1/usage/summary', plain.key)).body.requests).toBe(0)
    await gateway.write([{ at: ago(1000), keyId: plain.id }])
    expect((await gateway.get('/v1/usage/summary', plain.key)).body.requests).toBe(1)
    expect((await gateway.get('/v1/usage/summary')).body.requests).toBe(2)
    expect((await gateway.get('/v1/usage/summary', gateway.strangerKey)).body).toMatchObject(NOTHING)
    const filtered = '/v1/usage/summary?key=01890000-0000-7000-8000-00000000000a'
    expect((await gateway.get(filtered, gateway.strangerKey)).body).toMatchObject(NOTHING)
  })

  test.each([...BAD_RANGES, ['key', 'key=pk-dev-abc'], ['env', 'env=qa'], ['model', 'model=a%00b']] as const)(
    '400: %s is named for ?%s',
    async (param, query) => {
      expectInvalid(await gateway.get(`/v1/usage/summary?${query}`), param)
    },
  )

  test('400: an end without a beginning', async () => {
    const answer = await gateway.get('/v1/usage/summary?to=2026-11-01T00:00:00Z')
    expectInvalid(answer, 'from', 'missing_required_parameter')
  })

  test('401: without a key', async () => {
    for (const path of ['budget', 'summary', 'today', 'timeseries', 'spending', 'gpu-billing', 'records']) {
      const { status } = await gateway.request('GET', `/v1/usage/${path}`, { key: null })
      expect([path, status]).toEqual([path, 401])
    }
  })
})

describe('GET /v1/usage/today', () => {
  test('200: the day so far in UTC, hour by hour, compared with the same part of yesterday', async () => {
    const now = Date.now()
    const midnight = now - (now % (24 * HOUR_MS))
    await gateway.write([
      { at: new Date(midnight - 1).toISOString(), costNanoUsd: 1n },
      { at: new Date(midnight).toISOString(), costNanoUsd: 2n },
      { at: new Date(now).toISOString(), costNanoUsd: 4n },
      { at: new Date(midnight - 24 * HOUR_MS).toISOString(), costNanoUsd: 8n },
    ])
    const { status, body } = await gateway.get('/v1/usage/today')
    // If midnight has passed since the start of the test, the result is about another day.
    if (Date.now() - midnight >= 24 * HOUR_MS) return
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'usage.today',
      date: new Date(midnight).toISOString().slice(0, 10),
      from: new Date(midnight).toISOString(),
      requests: 2,
      cost_usd: 0.000000006,
      previous: { requests: 1, cost_usd: 0.000000008 },
    })
    // The request at midnight may be less than an hour old.
    expect(body.burn_rate_usd_per_hour).toBe(now - midnight < HOUR_MS ? 0.000000007 : 0.000000004)
    expect(body.hours).toHaveLength(new Date(Date.parse(body.to) - 1).getUTCHours() + 1)
    expect(body.hours.reduce((sum: number, hour: { requests: number }) => sum + hour.requests, 0)).toBe(2)
  })

  test('400: the parameter key is named', async () => {
    expectInvalid(await gateway.get('/v1/usage/today?key=mine'), 'key')
  })
})
