import type { NanoUsd } from '../../kernel/money.ts'

/** What vendors charge, over the requests whose cost is known. For operators. */
export interface UsageCosts {
  readonly vendorCostNanoUsd: NanoUsd
  /** How many requests these are. */
  readonly requests: number
  /** What these were charged. */
  readonly revenueNanoUsd: NanoUsd
}

export interface UsageCostsRow {
  readonly vendor_cost_nano_usd: bigint
  readonly costed_requests: bigint
  readonly costed_revenue_nano_usd: bigint
}

export const COST_COLUMNS = [
  'vendor_cost_nano_usd',
  'costed_requests',
  'costed_revenue_nano_usd',
] as const satisfies readonly (keyof UsageCostsRow)[]

/** Of a rollup, behind its counts. */
export const ROLLUP_COSTS = `, ${COST_COLUMNS.join(', ')}`
/** Of a record, which is one request. */
export const RECORD_COSTS = `, coalesce(vendor_cost_nano_usd, 0) AS vendor_cost_nano_usd,
  (vendor_cost_nano_usd IS NOT NULL)::integer::bigint AS costed_requests,
  CASE WHEN vendor_cost_nano_usd IS NULL THEN 0 ELSE cost_nano_usd END AS costed_revenue_nano_usd`
export const COST_SUMS = `, ${COST_COLUMNS.map((column) => `coalesce(sum(${column}), 0)::bigint AS ${column}`).join(', ')}`

export const NO_COSTS: UsageCosts = { vendorCostNanoUsd: 0n, requests: 0, revenueNanoUsd: 0n }

export function costsFromRow(row: UsageCostsRow): UsageCosts {
  return {
    vendorCostNanoUsd: row.vendor_cost_nano_usd,
    requests: Number(row.costed_requests),
    revenueNanoUsd: row.costed_revenue_nano_usd,
  }
}

export function addCosts(a: UsageCosts, b: UsageCosts): UsageCosts {
  return {
    vendorCostNanoUsd: a.vendorCostNanoUsd + b.vendorCostNanoUsd,
    requests: a.requests + b.requests,
    revenueNanoUsd: a.revenueNanoUsd + b.revenueNanoUsd,
  }
}
