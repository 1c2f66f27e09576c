import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'

/** What our records say about the requests of a day of UTC. */
export interface OwnDay {
  readonly day: string
  readonly requests: number
  /** Those whose cost is known. */
  readonly costedRequests: number
  readonly costNanoUsd: NanoUsd
  /** What accounts were charged for all of them, and for those whose cost is known. */
  readonly chargedNanoUsd: NanoUsd
  readonly costedChargedNanoUsd: NanoUsd
  /** The cost of the first and of the last hour. */
  readonly firstHourNanoUsd: NanoUsd
  readonly lastHourNanoUsd: NanoUsd
}

interface OwnRow {
  readonly day: string
  readonly requests: bigint
  readonly costed_requests: bigint
  readonly cost: string
  readonly charged: string
  readonly costed_charged: string
  readonly first_hour: string
  readonly last_hour: string
}

/** Adds up the requests of all accounts that these providers answered. Days without requests are absent. */
export async function readOwnCosts(
  queryable: Queryable,
  {
    providers,
    from,
    days,
  }: { readonly providers: readonly string[]; readonly from: string; readonly days: number },
): Promise<OwnDay[]> {
  const rows = await queryable.query<OwnRow>(
    `SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(requests)::bigint AS requests,
       sum(costed_requests)::bigint AS costed_requests, sum(vendor_cost_nano_usd)::text AS cost,
       sum(cost_nano_usd)::text AS charged, sum(costed_revenue_nano_usd)::text AS costed_charged,
       coalesce(sum(vendor_cost_nano_usd) FILTER (WHERE extract(hour FROM hour AT TIME ZONE 'UTC') = 0), 0)::text AS first_hour,
       coalesce(sum(vendor_cost_nano_usd) FILTER (WHERE extract(hour FROM hour AT TIME ZONE 'UTC') = 23), 0)::text AS last_hour
     FROM usage_rollups
     WHERE hour >= ($1::date)::timestamp AT TIME ZONE 'UTC' AND hour < ($1::date + $2::int)::timestamp AT TIME ZONE 'UTC'
       AND provider = ANY($3)
     GROUP BY 1 ORDER BY 1`,
    [from, days, [...providers]],
  )
  return rows.map((row) => ({
    day: row.day,
    requests: Number(row.requests),
    costedRequests: Number(row.costed_requests),
    costNanoUsd: BigInt(row.cost),
    chargedNanoUsd: BigInt(row.charged),
    costedChargedNanoUsd: BigInt(row.costed_charged),
    firstHourNanoUsd: BigInt(row.first_hour),
    lastHourNanoUsd: BigInt(row.last_hour),
  }))
}
