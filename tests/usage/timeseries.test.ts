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

const PATH = '/v1/usage/timeseries'
const HOURS = 'from=2026-11-14T22:30:00Z&to=2026-11-15T01:15:00Z'

describe('GET /v1/usage/timeseries', () => {
  test('200: one bucket per hour over midnight, without gaps', async () => {
    await gateway.write([
      { at: '2026-11-14T22:29:59.999Z', costNanoUsd: 1n },
      { at: '2026-11-14T22:30:00.000Z', costNanoUsd: 2_000n, writer: 1 },
      { at: '2026-11-14T22:45:00.000Z', costNanoUsd: 3_000n, writer: 2 },
      { at: '2026-11-15T00:00:00.000Z', costNanoUsd: 4_000n },
    ])
    const { status, body } = await gateway.get(`${PATH}?granularity=hour&${HOURS}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'usage.timeseries',
      tenant_id: gateway.accountId,
      from: '2026-11-14T22:30:00.000Z',
      to: '2026-11-15T01:15:00.000Z',
      granularity: 'hour',
      by: null,
      series: [],
      other: [],
    })
    expect(body.data[0]).toEqual({
      start: '2026-11-14T22:30:00.000Z',
      end: '2026-11-14T23:00:00.000Z',
      requests: 2,
      prompt_tokens: 20,
      cached_tokens: 0,
      cache_write_tokens: 0,
      completion_tokens: 10,
      reasoning_tokens: 0,
      total_tokens: 30,
      cost_usd: 0.000005,
      promotional_usd: 0,
    })
    expect(body.data.map(({ cost_usd }: { cost_usd: number }) => cost_usd)).toEqual([
      0.000005, 0, 0.000004, 0,
    ])
  })

  test.each(['model', 'provider', 'key', 'env'])(
    '200: split by %s, the series add up to the whole',
    async (by) => {
      await gateway.write([
        { at: '2026-11-14T22:35:00Z', costNanoUsd: 2_000n },
        {
          at: '2026-11-15T00:35:00Z',
          costNanoUsd: 5_000n,
          model: 'other',
          provider: 'groq',
          keyId: '01890000-0000-7000-8000-0000000000bb',
          environment: 'live',
        },
      ])
      const { body } = await gateway.get(`${PATH}?granularity=hour&by=${by}&${HOURS}`)
      const firstOf = {
        model: 'other',
        provider: 'groq',
        key: '01890000-0000-7000-8000-0000000000bb',
        env: 'live',
      }
      expect(body.by).toBe(by)
      expect(body.series).toHaveLength(2)
      expect(body.series[0].value).toBe(firstOf[by as keyof typeof firstOf])
      expect(body.series.map(({ data }: { data: unknown[] }) => data.length)).toEqual([4, 4])
      for (const [index, { requests }] of body.data.entries()) {
        expect(body.series[0].data[index].requests + body.series[1].data[index].requests).toBe(requests)
      }
    },
  )

  test('200: hours of the last day by default, days for longer ranges', async () => {
    const usual = await gateway.get(PATH)
    expect(usual.body.granularity).toBe('hour')
    expect([24, 25]).toContain(usual.body.data.length)
    expect((await gateway.get(`${PATH}?window=7d`)).body.granularity).toBe('day')
    const days = await gateway.get(`${PATH}?granularity=day`)
    expect([30, 31]).toContain(days.body.data.length)
    const month = await gateway.get(`${PATH}?granularity=hour&window=30d`)
    expect([720, 721]).toContain(month.body.data.length)
  })

  test('200: filters apply to every bucket, and another account sees zeros', async () => {
    await gateway.write([
      { at: '2026-11-14T22:35:00Z', model: 'a' },
      { at: '2026-11-14T23:35:00Z', model: 'b' },
    ])
    const requests = async (query: string, key?: string) =>
      (await gateway.get(`${PATH}?${HOURS}${query}`, key)).body.data.map(
        (bucket: { requests: number }) => bucket.requests,
      )
    expect(await requests('&model=b')).toEqual([0, 1, 0, 0])
    expect(await requests('&env=dev&provider=openai')).toEqual([1, 1, 0, 0])
    expect(await requests('', gateway.strangerKey)).toEqual([0, 0, 0, 0])
  })

  test.each([
    ...BAD_RANGES,
    ['granularity', 'granularity=minute'],
    ['granularity', 'granularity=hour&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z'],
    ['by', 'by=account'],
    ['key', 'key=mine'],
    ['env', 'env=qa'],
  ] as const)('400: %s is named for ?%s', async (param, query) => {
    expectInvalid(await gateway.get(`${PATH}?${query}`), param)
  })
})
