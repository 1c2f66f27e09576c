import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { LatencyMeter, type MeasuredRequest } from '../../src/modules/usage/latency-meter.ts'
import { BAD_RANGES, expectInvalid, startUsageGateway, type UsageGateway } from './start-usage-gateway.ts'

let gateway: UsageGateway
let meter: LatencyMeter

beforeAll(async () => {
  gateway = await startUsageGateway()
  meter = new LatencyMeter({ database: gateway.database, logger: silentLogger })
})

beforeEach(async () => {
  await gateway.forget()
  await gateway.database.query('TRUNCATE latency_rollups, latency_days')
})

afterAll(async () => {
  await meter.close()
  await gateway.close()
})

const PATH = '/v1/usage/latency'
const DAY = 'from=2026-11-11T00:00:00Z&to=2026-11-12T00:00:00Z'
const KEY_ID = '01890000-0000-7000-8000-0000000000cc'

async function measure(requests: readonly (Partial<MeasuredRequest> & { at?: string })[]): Promise<void> {
  for (const { at = '2026-11-11T10:20:00Z', ...request } of requests)
    meter.note({
      accountId: gateway.accountId,
      keyId: KEY_ID,
      environment: 'live',
      operation: 'chat',
      model: 'gpt-5.4',
      provider: 'openai',
      latencyMs: 100,
      firstTokenMs: null,
      createdAtMs: Date.parse(at),
      ...request,
    })
  await meter.flush()
}

/** The percentile of durations: the smallest one that as many are at or below. */
function percentileOf(sorted: readonly number[], percentile: number): number {
  return sorted[Math.ceil((sorted.length * percentile) / 100) - 1] ?? 0
}

function expectNear(found: number, exact: number): void {
  expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.max(1, exact * 0.05))
}

describe('GET /v1/usage/latency', () => {
  test('percentiles are within 5 % or a millisecond of the true ones, however the requests are split', async () => {
    const milliseconds = fc.oneof(
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 2_147_483_647 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            latencyMs: milliseconds,
            firstTokenMs: fc.option(milliseconds),
            hour: fc.integer({ min: 0, max: 23 }),
            isFlushed: fc.boolean(),
          }),
          { minLength: 1, maxLength: 60 },
        ),
        async (requests) => {
          await gateway.database.query('TRUNCATE latency_rollups')
          for (const { hour, isFlushed, ...request } of requests) {
            meter.note({
              accountId: gateway.accountId,
              keyId: KEY_ID,
              environment: 'live',
              operation: 'chat',
              model: 'm',
              provider: 'p',
              ...request,
              createdAtMs: Date.parse('2026-11-11T00:00:00Z') + hour * 3_600_000,
            })
            if (isFlushed) await meter.flush()
          }
          await meter.flush()
          const { body } = await gateway.get(`${PATH}?${DAY}`)
          const latencies = requests.map(({ latencyMs }) => latencyMs).toSorted((a, b) => a - b)
          const firstTokens = requests
            .flatMap(({ firstTokenMs }) => firstTokenMs ?? [])
            .toSorted((a, b) => a - b)
          expect(body.requests).toBe(requests.length)
          for (const percentile of [50, 90, 95, 99]) {
            expectNear(body.latency[`p${percentile}_ms`], percentileOf(latencies, percentile))
            if (firstTokens.length === 0) expect(body.ttft).toBeNull()
            else expectNear(body.ttft[`p${percentile}_ms`], percentileOf(firstTokens, percentile))
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  test('has every bucket of the range, and null where nothing was measured', async () => {
    await measure([
      { at: '2026-11-11T10:59:59Z', latencyMs: 1_000, firstTokenMs: 200 },
      { at: '2026-11-11T12:00:00Z', latencyMs: 4_000 },
    ])
    const { status, body } = await gateway.get(`${PATH}?${DAY}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'usage.latency',
      tenant_id: gateway.accountId,
      from: '2026-11-11T00:00:00.000Z',
      granularity: 'hour',
      by: null,
      error_bound: 0.05,
      requests: 2,
      series: [],
    })
    expect(body.data).toHaveLength(24)
    expect(body.data[9]).toEqual({
      start: '2026-11-11T09:00:00.000Z',
      end: '2026-11-11T10:00:00.000Z',
      requests: 0,
      latency: null,
      ttft: null,
    })
    expectNear(body.data[10].latency.p50_ms, 1_000)
    expectNear(body.data[10].ttft.p99_ms, 200)
    expectNear(body.data[12].latency.p50_ms, 4_000)
    expect(body.data[12].ttft).toBeNull()
  })

  test('GET /v1/usage/latency by splits into the groups with the most requests, each with its buckets', async () => {
    await measure([
      { model: 'slow', latencyMs: 9_000 },
      ...Array.from({ length: 3 }, () => ({ model: 'fast', latencyMs: 100 })),
      ...Array.from({ length: 10 }, (_, index) => [{ model: `m${index}` }, { model: `m${index}` }]).flat(),
    ])
    const { body } = await gateway.get(`${PATH}?${DAY}&by=model`)
    expect(body.requests).toBe(24)
    expect(body.series).toHaveLength(10)
    expect(body.series[0]).toMatchObject({ value: 'fast', requests: 3 })
    expectNear(body.series[0].latency.p95_ms, 100)
    expectNear(body.series[0].data[10].latency.p95_ms, 100)
    expect(body.series.map(({ value }: { value: string }) => value)).not.toContain('slow')
    for (const [by, value] of [
      ['key', KEY_ID],
      ['provider', 'openai'],
      ['env', 'live'],
    ])
      expect((await gateway.get(`${PATH}?${DAY}&by=${by}`)).body.series).toMatchObject([
        { value, requests: 24 },
      ])
  })

  test.each([
    [`key=${KEY_ID}`, 1],
    ['model=other', 1],
    ['provider=groq', 1],
    ['env=test', 1],
    ['operation=embedding', 1],
    ['operation=none', 0],
  ])('%s measures only what matches', async (query, requests) => {
    const otherKey = '01890000-0000-7000-8000-0000000000dd'
    await measure(
      [
        { keyId: KEY_ID },
        { model: 'other' },
        { provider: 'groq' },
        { environment: 'test' },
        { operation: 'embedding' },
      ].map((request, index) => ({ keyId: otherKey.slice(0, -1) + index, ...request })),
    )
    expect((await gateway.get(`${PATH}?${DAY}&${query}`)).body.requests).toBe(requests)
  })

  test('partial hours at the ends of the range are read from the requests', async () => {
    const { body: answer } = await gateway.request('POST', '/v1/chat/completions', {
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], stream: true },
    })
    expect(String(answer)).toContain('[DONE]')
    const [fromMs, toMs] = [Date.now() - 60_000, Date.now() + 60_000]
    const range = (from: number, to: number) =>
      `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`
    const { body } = await gateway.get(`${PATH}?${range(fromMs, toMs)}`)
    expect([body.requests, body.latency === null, body.ttft === null]).toEqual([1, false, false])
    const whole = await gateway.get(`${PATH}?window=24h`)
    expect(whole.body.requests).toBe(1)
    expect((await gateway.get(`${PATH}?${range(fromMs - 60_000, fromMs)}`)).body.requests).toBe(0)
  })

  test('hours of the past are added up by day, once, and stay in totals and days', async () => {
    const at = new Date(Date.now() - 60 * 86_400_000).toISOString().slice(0, 10)
    await measure([
      { at: `${at}T01:00:00Z`, latencyMs: 100, firstTokenMs: 10 },
      { at: `${at}T02:00:00Z`, latencyMs: 100 },
      { at: `${at}T02:30:00Z`, latencyMs: 9_000, firstTokenMs: 3_000 },
      { at: new Date().toISOString() },
    ])
    await meter.fold()
    await measure([{ at: `${at}T05:00:00Z`, latencyMs: 9_000 }])
    await meter.fold()
    await meter.fold()
    const rows = await gateway.database.query('SELECT hour FROM latency_rollups')
    expect(rows).toHaveLength(1)
    const from = `from=${at}T00:00:00Z&to=${new Date(Date.parse(at) + 86_400_000).toISOString()}`
    const { body } = await gateway.get(`${PATH}?${from}&granularity=day&by=model`)
    expect([body.requests, body.data[0].requests, body.series[0].requests]).toEqual([4, 4, 4])
    expectNear(body.latency.p50_ms, 100)
    expectNear(body.latency.p90_ms, 9_000)
    expectNear(body.ttft.p50_ms, 10)
    const hourly = await gateway.get(`${PATH}?${from}&granularity=hour`)
    expect(hourly.body.requests).toBe(4)
    expect(hourly.body.data.every(({ requests }: { requests: number }) => requests === 0)).toBe(true)
  })

  test('an account sees only its own', async () => {
    await measure([{}, { accountId: createId() }])
    expect((await gateway.get(`${PATH}?${DAY}`)).body.requests).toBe(1)
    expect((await gateway.get(`${PATH}?${DAY}`, gateway.strangerKey)).body.requests).toBe(0)
  })

  test.each<readonly [string, string]>([
    ...BAD_RANGES,
    ['granularity', 'granularity=minute'],
    ['granularity', 'granularity=hour&from=2026-01-01T00:00:00Z&to=2026-11-01T00:00:00Z'],
    ['by', 'by=outcome'],
  ])('400: %s is checked (%s)', async (param, query) => {
    expectInvalid(await gateway.get(`${PATH}?${query}`), param)
  })
})
