import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../usage-range.ts'
import { forecastMonth } from './forecast-month.ts'
import { readOutlook } from './read-outlook.ts'

const NOW = Date.UTC(2026, 10, 18, 9)
const MONTH_END = Date.UTC(2026, 11, 1)
const usd = (amount: number): bigint => BigInt(Math.round(amount * 1e9))

describe('what ends spending first', () => {
  const of = (parts: Partial<Parameters<typeof readOutlook>[0]>) =>
    readOutlook({
      rateNanoUsdPerHour: usd(2.7),
      balanceNanoUsd: usd(518),
      keyRestNanoUsd: null,
      budgets: [],
      limiting: [],
      monthEndsMs: MONTH_END,
      nowMs: NOW,
      ...parts,
    })
  const daily = { period: 'day', limitNanoUsd: usd(40), spentNanoUsd: usd(5) } as const

  test('is the balance without budgets', () => {
    expect(of({})).toMatchObject({ limit: 'balance', resetsAtMs: null })
    const { reachedAtMs, balanceLastsUntilMs } = of({})
    expect(((reachedAtMs ?? 0) - NOW) / DAY_MS).toBeCloseTo(518 / 2.7 / 24, 3)
    expect(balanceLastsUntilMs).toBe(reachedAtMs)
  })

  test('is the budget of the day if it is spent before midnight, and the balance lasts by its budget', () => {
    const outlook = of({ budgets: [daily] })
    expect(outlook).toMatchObject({ limit: 'day', resetsAtMs: Date.UTC(2026, 10, 19) })
    expect(((outlook.balanceLastsUntilMs ?? 0) - NOW) / DAY_MS).toBeCloseTo(518 / 40, 3)
  })

  test('is not a budget that starts again before it is spent', () => {
    expect(of({ budgets: [{ ...daily, limitNanoUsd: usd(60) }] }).limit).toBe('balance')
    const month = { period: 'month', limitNanoUsd: usd(900), spentNanoUsd: usd(1) } as const
    expect(of({ budgets: [month] }).limit).toBe('balance')
  })

  test('is told of what is spent already, without any rate', () => {
    const spent = { ...daily, spentNanoUsd: usd(40) }
    const month = { ...spent, period: 'month' as const }
    expect(of({ rateNanoUsdPerHour: 0n, budgets: [spent] })).toMatchObject({
      limit: 'day',
      reachedAtMs: NOW,
    })
    expect(of({ budgets: [spent, month] })).toMatchObject({ limit: 'month', resetsAtMs: MONTH_END })
    expect(of({ balanceNanoUsd: usd(-1), budgets: [spent] }).limit).toBe('balance')
  })

  test('is nothing without spending, or if all lasts a year', () => {
    const nothing = { limit: null, reachedAtMs: null, resetsAtMs: null, balanceLastsUntilMs: null }
    expect(of({ rateNanoUsdPerHour: 0n })).toMatchObject(nothing)
    expect(of({ rateNanoUsdPerHour: 1n })).toMatchObject(nothing)
  })

  test('is a budget of the organization at the rate of its own subject, unless it starts again before', () => {
    const project = {
      id: 'project-budget',
      subject: 'project:search',
      period: 'week' as const,
      limitNanoUsd: usd(10),
      spentNanoUsd: usd(4),
      resetsAtMs: Date.UTC(2026, 10, 23),
      rateNanoUsdPerHour: usd(2),
    }
    expect(of({ limiting: [project] })).toMatchObject({
      limit: 'budget',
      budget: { id: 'project-budget' },
      reachedAtMs: NOW + 3 * 3_600_000,
      resetsAtMs: project.resetsAtMs,
    })
    const slow = { ...project, rateNanoUsdPerHour: usd(0.01) }
    expect(of({ limiting: [slow] })).toMatchObject({ limit: 'balance', budget: null })
    expect(of({ limiting: [{ ...slow, period: 'total', resetsAtMs: null }] }).limit).toBe('balance')
    const ofAccount = { ...slow, subject: 'account', period: 'day' as const, limitNanoUsd: usd(40) }
    const { balanceLastsUntilMs } = of({ limiting: [ofAccount] })
    expect(((balanceLastsUntilMs ?? 0) - NOW) / DAY_MS).toBeCloseTo(518 / 40, 3)
  })

  test('is the own limit of a key', () => {
    expect(of({ balanceNanoUsd: null, keyRestNanoUsd: usd(2.7) })).toMatchObject({
      limit: 'key',
      reachedAtMs: NOW + 3_600_000,
      balanceLastsUntilMs: null,
    })
  })

  test('is the limit of the key that it comes from, at the rate of all keys of that one', () => {
    const own = { balanceNanoUsd: null, keyRestNanoUsd: usd(2.7) }
    const parentKey = { restNanoUsd: usd(3), rateNanoUsdPerHour: usd(6) }
    expect(of({ ...own, parentKey })).toMatchObject({
      limit: 'parent_key',
      reachedAtMs: NOW + 1_800_000,
    })
    expect(of({ ...own, parentKey: { ...parentKey, rateNanoUsdPerHour: 0n } }).limit).toBe('key')
  })
})

describe('the forecast of a month', () => {
  const spendOf = (count: number, of: (dayMs: number, index: number) => number) =>
    Array.from({ length: count }, (_, index) => {
      const dayMs = Date.UTC(2026, 10, 18) - (index + 1) * DAY_MS
      return { dayMs, spentNanoUsd: usd(of(dayMs, index)) }
    })
  const of = (days: ReturnType<typeof spendOf>) =>
    forecastMonth({
      days,
      spentNanoUsd: usd(170),
      monthEndsMs: MONTH_END,
      nowMs: Date.UTC(2026, 10, 18),
    })

  test('is what is spent and the usual days that are left, exactly if all days are equal', () => {
    const forecast = of(spendOf(10, () => 10))
    expect(forecast).toEqual({
      spentNanoUsd: usd(300),
      lowNanoUsd: usd(300),
      highNanoUsd: usd(300),
      confidence: 0.8,
      days: 10,
    })
  })

  test('has a wider interval the more days differ, never below what is spent', () => {
    const calm = of(spendOf(10, (_, index) => 10 + (index % 2)))
    const wild = of(spendOf(10, (_, index) => (index === 3 ? 100 : 0)))
    expect(widthOf(wild)).toBeGreaterThan(10 * widthOf(calm))
    expect(wild?.lowNanoUsd).toBe(usd(170))
  })

  test('knows weekends from two weeks on', () => {
    const isWeekend = (dayMs: number): boolean => [0, 6].includes(new Date(dayMs).getUTCDay())
    // From Wednesday the 18th to Monday the 30th there are 9 working days and two weekends.
    expect(of(spendOf(28, (dayMs) => (isWeekend(dayMs) ? 0 : 10)))?.spentNanoUsd).toBe(usd(170 + 90))
  })

  test('needs three whole days', () => {
    expect(of(spendOf(2, () => 10))).toBeNull()
    expect(of([])).toBeNull()
  })

  /** Days are drawn at random; the true sum must be in the interval about as often as it says. */
  test('is right about as often as it says', () => {
    let seed = 7
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
    const draw = (): number => 5 + 10 * random()
    let inside = 0
    const rounds = 2_000
    for (let round = 0; round < rounds; round += 1) {
      const forecast = of(spendOf(10, draw))
      const rest = Array.from({ length: 13 }, draw).reduce((sum, each) => sum + each, 0)
      const truth = usd(170 + rest)
      if (forecast && truth >= forecast.lowNanoUsd && truth <= forecast.highNanoUsd) inside += 1
    }
    expect(inside / rounds).toBeGreaterThan(0.75)
    expect(inside / rounds).toBeLessThan(0.85)
  })

  function widthOf(forecast: ReturnType<typeof of>): number {
    return forecast === null ? 0 : Number(forecast.highNanoUsd - forecast.lowNanoUsd)
  }
})
