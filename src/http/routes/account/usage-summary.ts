import { usdFromNanoUsd } from '../../../kernel/money.ts'
import {
  HOUR_MS,
  type UsageComparison,
  type UsageRange,
  type UsageTotals,
} from '../../../modules/usage/usage.ts'
import type { Window } from './usage-query.ts'
import { rangeToWire, totalsToWire } from './usage-wire.ts'

export interface SummaryParts {
  readonly accountId: string
  readonly window: Window | null
  readonly range: UsageRange
  readonly previousRange: UsageRange
  readonly comparison: UsageComparison
}

/** Usage totals, averages, and the comparison with the period before. */
export function summaryToWire({ accountId, window, range, previousRange, comparison }: SummaryParts) {
  const { totals, previous } = comparison
  const hours = (range.toMs - range.fromMs) / HOUR_MS
  const requests = Math.max(1, totals.requests)
  const [now, before] = [totalsToWire(totals), totalsToWire(previous)]
  return {
    tenant_id: accountId,
    window,
    ...rangeToWire(range),
    ...now,
    cache_hit_rate: hitRateOf(totals),
    averages: {
      cost_usd_per_request: usdFromNanoUsd(totals.costNanoUsd / BigInt(requests)),
      tokens_per_request: round(now.total_tokens / requests),
      requests_per_hour: round(totals.requests / hours),
      cost_usd_per_hour: round(now.cost_usd / hours),
    },
    previous: { ...rangeToWire(previousRange), ...before, cache_hit_rate: hitRateOf(previous) },
    change: changesOf(before, now),
  }
}

interface Compared {
  readonly requests: number
  readonly total_tokens: number
  readonly cost_usd: number
}

export function changesOf(before: Compared, now: Compared) {
  return {
    requests: changeOf(before.requests, now.requests),
    total_tokens: changeOf(before.total_tokens, now.total_tokens),
    cost_usd: changeOf(before.cost_usd, now.cost_usd),
  }
}

export function shiftRange({ fromMs, toMs }: UsageRange, byMs: number): UsageRange {
  return { fromMs: fromMs - byMs, toMs: toMs - byMs }
}

/** The share of prompt tokens that was read from a cache. */
export function hitRateOf({ promptTokens, cachedTokens }: UsageTotals): number | null {
  return promptTokens === 0 ? null : round(cachedTokens / promptTokens)
}

function changeOf(before: number, now: number): number | null {
  return before === 0 ? null : round((now - before) / before)
}

// Nine decimals, like amounts of money.
function round(value: number): number {
  return Math.round(value * 1e9) / 1e9
}
