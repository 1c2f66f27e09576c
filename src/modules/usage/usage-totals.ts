import type { NanoUsd } from '../../kernel/money.ts'

/** The sums over some requests. Cache tokens are included in the prompt tokens, and reasoning tokens in the completion tokens. */
export interface UsageTotals {
  readonly requests: number
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** Images, characters or seconds, by operation. */
  readonly units: number
  readonly costNanoUsd: NanoUsd
  /** The part of the cost that was paid with promotional credit. */
  readonly promotionalNanoUsd: NanoUsd
}

export interface UsageTotalsRow {
  readonly requests: bigint
  readonly prompt_tokens: bigint
  readonly cached_tokens: bigint
  readonly cache_write_tokens: bigint
  readonly completion_tokens: bigint
  readonly reasoning_tokens: bigint
  readonly units: bigint
  readonly cost_nano_usd: bigint
  readonly promotional_nano_usd: bigint
}

export const COUNT_COLUMNS = [
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'units',
  'cost_nano_usd',
  'promotional_nano_usd',
] as const satisfies readonly (keyof UsageTotalsRow)[]

export const ROLLUP_COUNTS = COUNT_COLUMNS.join(', ')
/** A record is one request. */
export const RECORD_COUNTS = ['1::bigint AS requests', ...COUNT_COLUMNS.slice(1)].join(', ')
// A sum of bigint has the type numeric, which would arrive as text.
export const SUMS = COUNT_COLUMNS.map((column) => `coalesce(sum(${column}), 0)::bigint AS ${column}`).join(
  ', ',
)

export const NO_USAGE: UsageTotals = {
  requests: 0,
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  units: 0,
  costNanoUsd: 0n,
  promotionalNanoUsd: 0n,
}

export function totalsFromRow(row: UsageTotalsRow): UsageTotals {
  return {
    requests: Number(row.requests),
    promptTokens: Number(row.prompt_tokens),
    cachedTokens: Number(row.cached_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    completionTokens: Number(row.completion_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    units: Number(row.units),
    costNanoUsd: row.cost_nano_usd,
    promotionalNanoUsd: row.promotional_nano_usd,
  }
}

export function addTotals(a: UsageTotals, b: UsageTotals): UsageTotals {
  return {
    requests: a.requests + b.requests,
    promptTokens: a.promptTokens + b.promptTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    units: a.units + b.units,
    costNanoUsd: a.costNanoUsd + b.costNanoUsd,
    promotionalNanoUsd: a.promotionalNanoUsd + b.promotionalNanoUsd,
  }
}

/** Sorts by cost, highest first; ties have a stable order. */
export function compareByCost<Group extends { readonly value: string; readonly totals: UsageTotals }>(
  a: Group,
  b: Group,
): number {
  if (a.totals.costNanoUsd !== b.totals.costNanoUsd) {
    return a.totals.costNanoUsd < b.totals.costNanoUsd ? 1 : -1
  }
  return b.totals.requests - a.totals.requests || (a.value < b.value ? -1 : 1)
}
