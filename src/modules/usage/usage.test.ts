import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setUsageStage, type UsageStage } from './testing/usage-stage.ts'
import { SAMPLE_KEY_ID, writeUsage } from './testing/write-usage.ts'

const DAY_BEFORE = '2026-11-14T23:59:59.999Z'
const MIDNIGHT = '2026-11-15T00:00:00.000Z'

let stage: UsageStage
let accountId: string
let startedMs: number

beforeAll(async () => {
  stage = await setUsageStage()
  startedMs = stage.nowMs
})

beforeEach(async () => {
  stage.nowMs = startedMs
  accountId = await stage.addAccount()
})

afterAll(async () => {
  await stage.close()
})

const rangeOf = (from: string, to: string) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) })

async function totalsOf(from: string, to: string, filter = {}) {
  const range = rangeOf(from, to)
  const { totals } = await stage.usage.compareTotals(
    { accountId, projectId: null, ownKeyId: null, range, filter },
    range,
  )
  return totals
}

describe('records', () => {
  test('are listed by the time of their charge, also under an older id', async () => {
    const [ofDayBefore, ofDay] = await writeUsage(stage.database, [
      { accountId, at: DAY_BEFORE },
      { accountId, at: '2026-11-15T09:10:00Z', namedAt: '2026-11-14T10:00:00Z' },
    ])
    const list = async (from: string, to: string) => {
      const { items, total } = await stage.usage.listRecords({
        accountId,
        projectId: null,
        ownKeyId: null,
        range: rangeOf(from, to),
        filter: {},
        outcome: null,
        page: { limit: 10, afterId: null },
      })
      return [items.map(({ id }) => id), total]
    }
    expect(await list(MIDNIGHT, '2026-11-16T00:00:00Z')).toEqual([[ofDay], 1])
    expect(await list('2026-11-14T00:00:00Z', MIDNIGHT)).toEqual([[ofDayBefore], 1])
  })
})

describe('totals', () => {
  test('rows of several processes are added up', async () => {
    await writeUsage(
      stage.database,
      [1, 2, 3].map((writer) => ({
        accountId,
        writer,
        at: '2026-11-15T09:10:00Z',
        promptTokens: 10,
        cachedTokens: 4,
        cacheWriteTokens: 3,
        completionTokens: 7,
        reasoningTokens: 2,
        costNanoUsd: 9_007_199_254_740_993n,
        promotionalNanoUsd: 1n,
      })),
    )
    expect(await totalsOf('2026-11-15T09:00:00Z', '2026-11-15T10:00:00Z')).toEqual({
      requests: 3,
      promptTokens: 30,
      cachedTokens: 12,
      cacheWriteTokens: 9,
      completionTokens: 21,
      reasoningTokens: 6,
      units: 0,
      costNanoUsd: 27_021_597_764_222_979n,
      promotionalNanoUsd: 3n,
    })
  })

  test('the last millisecond of a day and midnight belong to different days', async () => {
    await writeUsage(stage.database, [
      { accountId, at: DAY_BEFORE, costNanoUsd: 1n },
      { accountId, at: MIDNIGHT, costNanoUsd: 10n },
    ])
    const dayBefore = await totalsOf('2026-11-14T00:00:00Z', MIDNIGHT)
    const day = await totalsOf(MIDNIGHT, '2026-11-16T00:00:00Z')
    expect([dayBefore.costNanoUsd, day.costNanoUsd]).toEqual([1n, 10n])
  })

  test.each([
    ['from a minute into an hour', '08:01:00', '10:00:00', 0b1110n],
    ['to a minute into an hour', '08:00:00', '10:01:00', 0b11111n],
    ['inside an hour', '09:00:00.001', '09:59:59.999', 0b0100n],
    ['up to a request, which is not counted', '08:00:00', '09:59:59.999', 0b0111n],
    ['from a request, which is counted', '09:59:59.999', '10:00:00', 0b1000n],
    ['over one border', '08:30:00', '09:30:00.001', 0b0110n],
    ['of a millisecond', '09:00:00', '09:00:00.001', 0b0010n],
  ])('a range %s is exact', async (_what, from, to, expected) => {
    const times = ['08:00:30', '09:00:00', '09:30:00', '09:59:59.999', '10:00:00']
    await writeUsage(
      stage.database,
      times.map((time, index) => ({
        accountId,
        at: `2026-11-15T${time}Z`,
        costNanoUsd: 1n << BigInt(index),
      })),
    )
    const { costNanoUsd } = await totalsOf(`2026-11-15T${from}Z`, `2026-11-15T${to}Z`)
    expect(costNanoUsd.toString(2)).toBe(expected.toString(2))
  })

  test('filters apply to whole hours and to edges', async () => {
    const other = '01890000-0000-7000-8000-00000000000b'
    const live = '01890000-0000-7000-8000-0000000000ff'
    for (const at of ['2026-11-15T08:30:00Z', '2026-11-15T09:30:00Z', '2026-11-15T10:30:00Z']) {
      await writeUsage(stage.database, [
        { accountId, at, costNanoUsd: 1n },
        { accountId, at, costNanoUsd: 10n, keyId: other },
        { accountId, at, costNanoUsd: 100n, model: 'claude' },
        { accountId, at, costNanoUsd: 1000n, provider: 'groq' },
        { accountId, at, costNanoUsd: 10_000n, keyId: live, environment: 'live' },
      ])
    }
    const cost = async (filter: object) =>
      (await totalsOf('2026-11-15T08:15:00Z', '2026-11-15T10:45:00Z', filter)).costNanoUsd
    expect(await cost({})).toBe(33_333n)
    expect(await cost({ keyId: other })).toBe(30n)
    expect(await cost({ model: 'claude' })).toBe(300n)
    expect(await cost({ provider: 'groq' })).toBe(3000n)
    expect(await cost({ environment: 'live' })).toBe(30_000n)
    expect(await cost({ environment: 'dev', provider: 'openai', keyId: SAMPLE_KEY_ID })).toBe(303n)
    expect(await cost({ model: 'none' })).toBe(0n)
  })
})

describe('the spending of a key', () => {
  test('is added up over processes and days, and is zero for unused keys', async () => {
    const keyId = '01890000-0000-7000-8000-00000000000c'
    await writeUsage(stage.database, [
      { accountId, keyId, at: MIDNIGHT, costNanoUsd: 3n, writer: 1 },
      { accountId, keyId, at: MIDNIGHT, costNanoUsd: 4n, writer: 2 },
      { accountId, keyId, at: new Date(Date.parse(MIDNIGHT) - 1).toISOString(), costNanoUsd: 5n },
    ])
    const unused = '01890000-0000-7000-8000-00000000000d'
    expect([...(await stage.usage.spentByKeys([keyId, unused]))]).toEqual([
      [keyId, 12n],
      [unused, 0n],
    ])
    expect((await stage.usage.spentByKeys([])).size).toBe(0)
  })
})

describe('the budget', () => {
  test("without a limit is this month's spending plus the balance", async () => {
    Object.assign(stage, { balanceNanoUsd: 70n, heldNanoUsd: 20n, budgets: [] })
    await writeUsage(stage.database, [
      { accountId, at: '2026-10-31T23:59:59.999Z', costNanoUsd: 1000n },
      { accountId, at: '2026-11-01T00:00:00.000Z', costNanoUsd: 10n, writer: 1 },
      { accountId, at: '2026-11-15T11:34:56.788Z', costNanoUsd: 15n, writer: 2 },
      { accountId, at: '2026-11-15T11:34:56.789Z', costNanoUsd: 2n, writer: 2 },
      { accountId, at: '2026-11-15T12:00:00.000Z', costNanoUsd: 3n, writer: 3 },
    ])
    expect(
      await stage.usage.readBudget({ accountId, projectId: null, ownKeyId: null, subjects: [] }),
    ).toMatchObject({
      limitNanoUsd: 100n,
      spentNanoUsd: 30n,
      remainingNanoUsd: 70n,
      heldNanoUsd: 20n,
      burnRateNanoUsdPerHour: 5n,
      month: rangeOf('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'),
      readAtMs: stage.nowMs,
    })
  })

  test.each([
    ['the month leaves the least', 1000n, [['month', 100n, 40n] as const], 100n, 60n],
    ['the balance is the least', 50n, [['month', 100n, 40n] as const], 100n, 50n],
    [
      'the day leaves the least',
      1000n,
      [['month', 100n, 40n] as const, ['day', 41n, 40n] as const],
      100n,
      1n,
    ],
    ['more than the limit was spent', 1000n, [['month', 100n, 101n] as const], 100n, 0n],
    ['there is a debt', -5n, [], 0n, 0n],
  ])(
    'leaves what can actually be spent when %s',
    async (_when, balanceNanoUsd, budgets, limit, remaining) => {
      Object.assign(stage, {
        balanceNanoUsd,
        budgets: budgets.map(([period, limitNanoUsd, spentNanoUsd]) => ({
          period,
          limitNanoUsd,
          spentNanoUsd,
        })),
      })
      expect(
        await stage.usage.readBudget({ accountId, projectId: null, ownKeyId: null, subjects: [] }),
      ).toMatchObject({
        limitNanoUsd: limit,
        remainingNanoUsd: remaining,
      })
    },
  )

  test('has an integer version that stays while nothing changes and differs when something does', async () => {
    Object.assign(stage, { balanceNanoUsd: 70n, heldNanoUsd: 0n, budgets: [] })
    const versionNow = async () =>
      (await stage.usage.readBudget({ accountId, projectId: null, ownKeyId: null, subjects: [] })).version
    const versions = [await versionNow()]
    stage.nowMs += 1000
    expect(await versionNow()).toBe(versions[0])
    stage.heldNanoUsd = 1n
    versions.push(await versionNow())
    stage.budgets = [{ period: 'day', limitNanoUsd: 1n, spentNanoUsd: 0n }]
    versions.push(await versionNow())
    await writeUsage(stage.database, [{ accountId, at: '2026-11-15T12:00:00Z', costNanoUsd: 1n }])
    versions.push(await versionNow())
    expect(new Set(versions).size).toBe(4)
    expect(versions.every(Number.isSafeInteger)).toBe(true)
  })
})
