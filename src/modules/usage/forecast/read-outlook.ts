import type { NanoUsd } from '../../../kernel/money.ts'
import type { LimitingBudget } from '../../ledger/ledger.ts'
import { DAY_MS, floorDay, HOUR_MS } from '../usage-range.ts'

/**
 * What can end spending: the balance, the account's budget of a day or a month, the limit of a key or of the one that it comes from, or a
 * budget of the organization.
 */
export type OutlookLimit = 'balance' | 'day' | 'month' | 'key' | 'parent_key' | 'budget'

/** A budget of the organization that limits the reader, with what its subject spent in the last hour. */
export interface RatedBudget extends LimitingBudget {
  readonly rateNanoUsdPerHour: NanoUsd
}

/** What ends spending first if it goes on as in the last hour. */
export interface Outlook {
  /** Null if nothing does: budgets start again before they are spent, or nothing is reached within a year. */
  readonly limit: OutlookLimit | null
  /** The budget of the organization that is reached first. Null for every other limit. */
  readonly budget: RatedBudget | null
  readonly reachedAtMs: number | null
  /** When requests are taken again without anybody's doing. Null for a balance and the limit of a key. */
  readonly resetsAtMs: number | null
  /** How long the balance lasts at that rate, with no more a day than its budget. Null for more than a year. */
  readonly balanceLastsUntilMs: number | null
  readonly rateNanoUsdPerHour: NanoUsd
  readonly readAtMs: number
}

interface OutlookParts {
  readonly rateNanoUsdPerHour: NanoUsd
  /** Null where the reader does not know it. */
  readonly balanceNanoUsd: NanoUsd | null
  /** What a key may still spend. Null without a limit. */
  readonly keyRestNanoUsd: NanoUsd | null
  /** The same of the key that it comes from, with what all keys of that one spent in the last hour. */
  readonly parentKey?: { readonly restNanoUsd: NanoUsd; readonly rateNanoUsdPerHour: NanoUsd } | null
  readonly budgets: readonly {
    readonly period: 'day' | 'month'
    readonly limitNanoUsd: NanoUsd
    readonly spentNanoUsd: NanoUsd
  }[]
  /** The budgets of the organization that limit the reader. */
  readonly limiting: readonly RatedBudget[]
  readonly monthEndsMs: number
  readonly nowMs: number
}

interface Reached {
  readonly limit: OutlookLimit
  readonly budget: RatedBudget | null
  readonly reachedAtMs: number
  readonly resetsAtMs: number | null
}

const HORIZON_MS = 365 * DAY_MS

/** All pages and programs that say how long money lasts have it from here. */
export function readOutlook(parts: OutlookParts): Outlook {
  const { rateNanoUsdPerHour, balanceNanoUsd, keyRestNanoUsd, budgets, limiting, monthEndsMs, nowMs } = parts
  const reaches = (rest: NanoUsd, rate: NanoUsd = rateNanoUsdPerHour): number | null => {
    if (rest <= 0n) return nowMs
    if (rate <= 0n) return null
    // A ratio of times needs no exact integers.
    const ms = (Number(rest) / Number(rate)) * HOUR_MS
    return ms > HORIZON_MS ? null : nowMs + Math.round(ms)
  }
  const found: Reached[] = []
  const add = (reachedAtMs: number | null, limit: Omit<Reached, 'reachedAtMs'>): void => {
    // A budget that starts again before it is spent ends nothing.
    if (reachedAtMs !== null && reachedAtMs < (limit.resetsAtMs ?? Infinity))
      found.push({ ...limit, reachedAtMs })
  }
  for (const { period, limitNanoUsd, spentNanoUsd } of budgets) {
    const resetsAtMs = period === 'day' ? floorDay(nowMs) + DAY_MS : monthEndsMs
    add(reaches(limitNanoUsd - spentNanoUsd), { limit: period, budget: null, resetsAtMs })
  }
  for (const budget of limiting) {
    const { limitNanoUsd, spentNanoUsd, resetsAtMs } = budget
    const reachedAtMs = reaches(limitNanoUsd - spentNanoUsd, budget.rateNanoUsdPerHour)
    add(reachedAtMs, { limit: 'budget', budget, resetsAtMs })
  }
  const daily = [...budgets, ...limiting.filter(({ subject }) => subject === 'account')].filter(
    ({ period }) => period === 'day',
  )
  const slowest = daily.reduce(
    (rate, { limitNanoUsd }) => smallest(rate, limitNanoUsd / 24n),
    rateNanoUsdPerHour,
  )
  const balanceLastsUntilMs = balanceNanoUsd === null ? null : reaches(balanceNanoUsd, slowest)
  if (balanceNanoUsd !== null)
    add(reaches(balanceNanoUsd), { limit: 'balance', budget: null, resetsAtMs: null })
  if (keyRestNanoUsd !== null) add(reaches(keyRestNanoUsd), { limit: 'key', budget: null, resetsAtMs: null })
  if (parts.parentKey)
    add(reaches(parts.parentKey.restNanoUsd, parts.parentKey.rateNanoUsdPerHour), {
      limit: 'parent_key',
      budget: null,
      resetsAtMs: null,
    })
  const first = found.toSorted(
    // Of limits that are reached at the same time, the one that lasts longest says when requests are taken again.
    (a, b) => a.reachedAtMs - b.reachedAtMs || (b.resetsAtMs ?? Infinity) - (a.resetsAtMs ?? Infinity),
  )[0]
  const reached = first ?? { limit: null, budget: null, reachedAtMs: null, resetsAtMs: null }
  return { ...reached, balanceLastsUntilMs, rateNanoUsdPerHour, readAtMs: nowMs }
}

function smallest(a: NanoUsd, b: NanoUsd): NanoUsd {
  return a < b ? a : b
}
