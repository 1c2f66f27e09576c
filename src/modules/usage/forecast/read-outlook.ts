import type { NanoUsd } from '../../../kernel/money.ts'
import { DAY_MS, floorDay, HOUR_MS } from '../usage-range.ts'

/** What can end spending: the balance, the budget of a day or a month, or the limit of a key. */
export type OutlookLimit = 'balance' | 'day' | 'month' | 'key'

/** What ends spending first if it goes on as in the last hour. */
export interface Outlook {
  /** Null if nothing does: budgets start again before they are spent, or nothing is reached within a year. */
  readonly limit: OutlookLimit | null
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
  readonly budgets: readonly {
    readonly period: 'day' | 'month'
    readonly limitNanoUsd: NanoUsd
    readonly spentNanoUsd: NanoUsd
  }[]
  readonly monthEndsMs: number
  readonly nowMs: number
}

const HORIZON_MS = 365 * DAY_MS

/** All pages and programs that say how long money lasts have it from here. */
export function readOutlook(parts: OutlookParts): Outlook {
  const { rateNanoUsdPerHour, balanceNanoUsd, keyRestNanoUsd, budgets, monthEndsMs, nowMs } = parts
  const reaches = (rest: NanoUsd, rate: NanoUsd = rateNanoUsdPerHour): number | null => {
    if (rest <= 0n) return nowMs
    if (rate <= 0n) return null
    // A ratio of times needs no exact integers.
    const ms = (Number(rest) / Number(rate)) * HOUR_MS
    return ms > HORIZON_MS ? null : nowMs + Math.round(ms)
  }
  const found: { limit: OutlookLimit; reachedAtMs: number; resetsAtMs: number | null }[] = []
  for (const { period, limitNanoUsd, spentNanoUsd } of budgets) {
    const resetsAtMs = period === 'day' ? floorDay(nowMs) + DAY_MS : monthEndsMs
    const reachedAtMs = reaches(limitNanoUsd - spentNanoUsd)
    if (reachedAtMs !== null && reachedAtMs < resetsAtMs)
      found.push({ limit: period, reachedAtMs, resetsAtMs })
  }
  const daily = budgets.find(({ period }) => period === 'day')
  const slowest =
    daily === undefined ? rateNanoUsdPerHour : smallest(rateNanoUsdPerHour, daily.limitNanoUsd / 24n)
  const balanceLastsUntilMs = balanceNanoUsd === null ? null : reaches(balanceNanoUsd, slowest)
  const emptyAtMs = balanceNanoUsd === null ? null : reaches(balanceNanoUsd)
  if (emptyAtMs !== null) found.push({ limit: 'balance', reachedAtMs: emptyAtMs, resetsAtMs: null })
  const keyAtMs = keyRestNanoUsd === null ? null : reaches(keyRestNanoUsd)
  if (keyAtMs !== null) found.push({ limit: 'key', reachedAtMs: keyAtMs, resetsAtMs: null })
  const first = found.toSorted(
    // Of limits that are reached at the same time, the one that lasts longest says when requests are taken again.
    (a, b) => a.reachedAtMs - b.reachedAtMs || (b.resetsAtMs ?? Infinity) - (a.resetsAtMs ?? Infinity),
  )[0]
  const reached = first ?? { limit: null, reachedAtMs: null, resetsAtMs: null }
  return { ...reached, balanceLastsUntilMs, rateNanoUsdPerHour, readAtMs: nowMs }
}

function smallest(a: NanoUsd, b: NanoUsd): NanoUsd {
  return a < b ? a : b
}
