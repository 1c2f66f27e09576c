import type { Queryable } from '../../../storage/database.ts'
import { latencyOfBucket, UNPACKED } from '../latency-buckets.ts'
import { floorDay, floorHour } from '../usage-range.ts'
import { gatewayConditions, groupedBy, SOURCE_COLUMNS, type GatewayQuery } from './gateway-query.ts'

/** Durations of completed requests in milliseconds. Null if none was measured. */
export interface GroupLatency {
  readonly latency: Spread | null
  readonly firstToken: Spread | null
}

interface Spread {
  readonly p50: number
  readonly p95: number
}

interface LatencyRow {
  readonly value: string
  readonly is_first_token: boolean
  readonly p50: bigint
  readonly p95: bigint
}

/** Returns how long the requests of some groups took. Hours count as a whole, and days of which no hours are left. */
export async function readGroupLatency(
  queryable: Queryable,
  query: GatewayQuery,
  groups: readonly string[],
): Promise<ReadonlyMap<string, GroupLatency>> {
  const { by, range, filter } = query
  if (by === 'tag' || filter.label !== undefined || groups.length === 0) return new Map()
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const grouped = groupedBy(query, SOURCE_COLUMNS[by], bind)
  const wanted = `${gatewayConditions(query, bind)} AND ${grouped.value} = ANY (${bind(groups)}::text[])`
  const to = bind(new Date(range.toMs))
  const unfold = (table: string, time: string, fromMs: number): string[] => {
    const within = `rows.${time} >= ${bind(new Date(fromMs))} AND rows.${time} < ${to}${wanted}`
    return (['latency', 'first_token'] as const).map(
      (column) => `SELECT ${grouped.value} AS value, ${column === 'first_token'} AS is_first_token,
          (${UNPACKED.bucket}) AS bucket, sum(${UNPACKED.count}) AS count
        FROM ${table} AS rows ${grouped.join} CROSS JOIN LATERAL unnest(rows.${column}) AS packed WHERE ${within} GROUP BY 1, 2, 3`,
    )
  }
  const counts = [
    ...unfold('latency_rollups', 'hour', floorHour(range.fromMs)),
    ...unfold('latency_days', 'day', floorDay(range.fromMs)),
  ].join(' UNION ALL ')
  const rows = await queryable.query<LatencyRow>(percentilesOf(counts), values)
  return new Map(
    [...Map.groupBy(rows, ({ value }) => value)].map(([value, found]) => [
      value,
      { latency: spreadOf(found, false), firstToken: spreadOf(found, true) },
    ]),
  )
}

function percentilesOf(countsSql: string): string {
  return `WITH counts AS (
      SELECT value, is_first_token, bucket, sum(count) AS count FROM (${countsSql}) AS counted GROUP BY 1, 2, 3
    ), reached AS (
      SELECT value, is_first_token, bucket, sum(count) OVER (PARTITION BY value, is_first_token ORDER BY bucket) AS reached,
        sum(count) OVER (PARTITION BY value, is_first_token) AS requests FROM counts
    )
    SELECT value, is_first_token, min(bucket) FILTER (WHERE reached * 100 >= requests * 50) AS p50,
      min(bucket) FILTER (WHERE reached * 100 >= requests * 95) AS p95
    FROM reached GROUP BY 1, 2`
}

function spreadOf(rows: readonly LatencyRow[], isFirstToken: boolean): Spread | null {
  const row = rows.find((one) => one.is_first_token === isFirstToken)
  if (row === undefined) return null
  return { p50: latencyOfBucket(Number(row.p50)), p95: latencyOfBucket(Number(row.p95)) }
}
