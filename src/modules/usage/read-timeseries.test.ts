import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setUsageStage, type UsageStage } from './testing/usage-stage.ts'
import { writeUsage } from './testing/write-usage.ts'
import { BUCKETS_MAX, SERIES_MAX, type Granularity, type UsageBucket } from './usage.ts'

let stage: UsageStage
let accountId: string

beforeAll(async () => {
  stage = await setUsageStage()
})

beforeEach(async () => {
  accountId = await stage.addAccount()
})

afterAll(async () => {
  await stage.close()
})

const read = (
  from: string,
  to: string,
  granularity: Granularity,
  by: 'model' | 'provider' | 'key' | 'env' | null = null,
) =>
  stage.usage.readTimeseries({
    accountId,
    projectId: null,
    ownKeyId: null,
    range: { fromMs: Date.parse(from), toMs: Date.parse(to) },
    granularity,
    by,
    filter: {},
  })

const costs = (buckets: readonly UsageBucket[]) => buckets.map(({ totals }) => Number(totals.costNanoUsd))

describe('a timeseries', () => {
  test('has a bucket for every hour, with zeros for no usage, cut at both ends', async () => {
    await writeUsage(stage.database, [
      { accountId, at: '2026-11-14T22:29:59.999Z', costNanoUsd: 1n },
      { accountId, at: '2026-11-14T22:30:00.000Z', costNanoUsd: 2n },
      { accountId, at: '2026-11-15T00:00:00.000Z', costNanoUsd: 4n },
      { accountId, at: '2026-11-15T01:14:59.999Z', costNanoUsd: 8n, writer: 2 },
      { accountId, at: '2026-11-15T01:15:00.000Z', costNanoUsd: 16n },
    ])
    const { buckets, series, rest } = await read('2026-11-14T22:30:00Z', '2026-11-15T01:15:00Z', 'hour')
    expect(costs(buckets)).toEqual([2, 0, 4, 8])
    expect(buckets.map(({ range }) => new Date(range.fromMs).toISOString().slice(11, 16))).toEqual([
      '22:30',
      '23:00',
      '00:00',
      '01:00',
    ])
    expect(buckets.at(-1)?.range.toMs).toBe(Date.parse('2026-11-15T01:15:00Z'))
    expect([series, rest]).toEqual([[], []])
  })

  test('splits days at midnight UTC, also at the end of a month and of a year', async () => {
    await writeUsage(stage.database, [
      { accountId, at: '2026-12-30T23:59:59.999Z', costNanoUsd: 1n },
      { accountId, at: '2026-12-31T00:00:00.000Z', costNanoUsd: 2n },
      { accountId, at: '2026-12-31T23:59:59.999Z', costNanoUsd: 4n },
      { accountId, at: '2027-01-01T00:00:00.000Z', costNanoUsd: 8n },
    ])
    const { buckets } = await read('2026-12-29T12:00:00Z', '2027-01-02T00:00:00Z', 'day')
    expect(costs(buckets)).toEqual([0, 1, 6, 8])
  })

  test('is the same for every time zone of the database session', async () => {
    await writeUsage(stage.database, [{ accountId, at: '2026-11-15T00:30:00.000Z', costNanoUsd: 1n }])
    await stage.database.query(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET timezone TO %L', current_database(), 'Asia/Kolkata');
    END $$`)
    const elsewhere = await setUsageStage(stage.connectionString)
    try {
      const range = { fromMs: Date.parse('2026-11-14T00:00:00Z'), toMs: Date.parse('2026-11-15T12:10:00Z') }
      const query = {
        accountId,
        projectId: null,
        ownKeyId: null,
        range,
        granularity: 'day',
        by: null,
        filter: {},
      } as const
      expect(costs((await elsewhere.usage.readTimeseries(query)).buckets)).toEqual([0, 1])
      const [zone] = await elsewhere.database.query('SHOW timezone')
      expect(zone).toEqual({ TimeZone: 'Asia/Kolkata' })
    } finally {
      await elsewhere.close()
    }
  })

  test('splits by the requested member, the most expensive first, over the same buckets', async () => {
    const at = '2026-11-15T08:30:00Z'
    await writeUsage(stage.database, [
      { accountId, at, model: 'small', costNanoUsd: 1n },
      { accountId, at: '2026-11-15T09:30:00Z', model: 'small', costNanoUsd: 1n },
      { accountId, at, model: 'large', costNanoUsd: 3n },
    ])
    const { buckets, series, rest } = await read(
      '2026-11-15T08:00:00Z',
      '2026-11-15T10:00:00Z',
      'hour',
      'model',
    )
    expect(series.map(({ value, buckets: own }) => [value, costs(own)])).toEqual([
      ['large', [3, 0]],
      ['small', [1, 1]],
    ])
    expect(costs(buckets)).toEqual([4, 1])
    expect(rest).toEqual([])
  })

  test('shows the most expensive and adds up the others', async () => {
    await writeUsage(
      stage.database,
      Array.from({ length: SERIES_MAX + 2 }, (_, index) => ({
        accountId,
        at: '2026-11-15T08:30:00Z',
        model: `model-${index}`,
        costNanoUsd: BigInt(index + 1),
      })),
    )
    const { buckets, series, rest } = await read(
      '2026-11-15T08:00:00Z',
      '2026-11-15T09:00:00Z',
      'hour',
      'model',
    )
    expect(series).toHaveLength(SERIES_MAX)
    expect(series[0]?.value).toBe(`model-${SERIES_MAX + 1}`)
    expect(costs(rest)).toEqual([3])
    expect(costs(buckets)).toEqual([((SERIES_MAX + 2) * (SERIES_MAX + 3)) / 2])
  })

  test('has a limited number of buckets', async () => {
    const from = Date.parse('2026-01-01T00:00:00Z')
    const to = (hours: number) => new Date(from + hours * 3_600_000).toISOString()
    const most = await read('2026-01-01T00:00:00Z', to(BUCKETS_MAX), 'hour')
    expect(most.buckets).toHaveLength(BUCKETS_MAX)
    await expect(read('2026-01-01T00:00:00Z', to(BUCKETS_MAX + 1), 'hour')).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'granularity',
    })
  })
})
