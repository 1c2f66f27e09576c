import type { Queryable } from '../../../storage/database.ts'
import { HOURS_ARE_KEPT_FROM, latencyOfBucket, UNPACKED } from '../latency-buckets.ts'
import { floorDay, floorHour } from '../usage-range.ts'
import { valueOfTag } from '../value-of-tag.ts'
import {
  gatewayConditions,
  groupedBy,
  isOfLabels,
  NO_ATTRIBUTES,
  SOURCE_COLUMNS,
  type GatewayQuery,
} from './gateway-query.ts'
import { divideRange, findGrain, isSummed } from './summed-days.ts'

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

/**
 * Returns how long the requests of some groups took. Hours count as a whole, and days of which no hours are left. `accountIds` has the
 * accounts of the groups, if each belongs to one: only what these did is read.
 */
export async function readGroupLatency(
  queryable: Queryable,
  query: GatewayQuery,
  groups: readonly string[],
  accountIds: readonly string[] | null,
): Promise<ReadonlyMap<string, GroupLatency>> {
  const { by } = query
  if (groups.length === 0) return new Map()
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const grouped =
    by === 'tag' ? groupedByTag(query.tagName, bind) : groupedBy(query, SOURCE_COLUMNS[by], bind)
  const ofAccounts = accountIds === null ? '' : ` AND rows.account_id = ANY (${bind(accountIds)}::uuid[])`
  const wanted = `${ofAccounts}${gatewayConditions(query, bind)} AND ${grouped.value} = ANY (${bind(groups)}::text[])`
  const select = (relation: string, condition: string): string =>
    `SELECT ${grouped.value} AS value, rows.latency, rows.first_token FROM ${relation} AS rows ${grouped.join}
     WHERE ${condition}${wanted}`
  const rows = await queryable.query<LatencyRow>(
    percentilesOf(
      (isOfLabels(query) ? selectByLabel(query, bind, select) : selectHistograms(query, bind, select)).join(
        ' UNION ALL ',
      ),
    ),
    values,
  )
  return new Map(
    [...Map.groupBy(rows, ({ value }) => value)].map(([value, found]) => [
      value,
      { latency: spreadOf(found, false), firstToken: spreadOf(found, true) },
    ]),
  )
}

/** What has no such tag is not measured apart. */
function groupedByTag(tagName: string | null, bind: (value: unknown) => string) {
  const prefix = `${bind(`tag:${tagName ?? ''}=`)}::text`
  return {
    value: `CASE WHEN starts_with(rows.label, ${prefix}) THEN ${valueOfTag('rows.label', prefix)} END`,
    join: '',
  }
}

/** SQL for histograms by tag, which are kept by hour only. */
function selectByLabel(
  { range, filter }: GatewayQuery,
  bind: (value: unknown) => string,
  select: (relation: string, condition: string) => string,
): string[] {
  const at = (epochMs: number): string => `${bind(new Date(epochMs))}::timestamptz`
  const within = `rows.hour >= ${at(floorHour(range.fromMs))} AND rows.hour < ${at(range.toMs)}`
  const labelled = filter.label === undefined ? '' : ` AND rows.label = ${bind(filter.label)}::text`
  return [select(`(SELECT *, ${NO_ATTRIBUTES} FROM latency_by_label)`, `${within}${labelled}`)]
}

/** SQL for histograms: those of whole days from their sums, the others from hours, and from days that hours were added up to. */
function selectHistograms(
  query: GatewayQuery,
  bind: (value: unknown) => string,
  select: (relation: string, condition: string) => string,
): string[] {
  const { fromMs, toMs } = query.range
  const hours = { fromMs: floorHour(fromMs), toMs }
  const grain = isSummed(query) ? findGrain(query, true) : null
  const divided = grain === null ? null : divideRange(hours, bind)
  const at = (epochMs: number): string => `${bind(new Date(epochMs))}::timestamptz`
  const rest = divided?.rest ?? [{ from: at(hours.fromMs), to: at(toMs) }]
  const firstDay = at(floorDay(fromMs))
  const fromRest = rest.flatMap(({ from, to, each }, index) => {
    const relation = (table: string): string => (each === undefined ? table : `${each} CROSS JOIN ${table}`)
    // The day that the range begins in counts as a whole if it has no hours any more.
    const fromDay = index === 0 ? firstDay : from
    return [
      select(relation('latency_rollups'), `rows.hour >= ${from} AND rows.hour < ${to}`),
      // Nothing is read of it unless the time is that long ago.
      select(
        relation('latency_days'),
        `rows.day >= ${fromDay} AND rows.day < ${to} AND ${fromDay} < ${HOURS_ARE_KEPT_FROM}`,
      ),
    ]
  })
  if (grain === null || divided === null) return fromRest
  const summed = `rows.grain = ${bind(grain.name)}::text AND ${divided.isSummed('rows.day')}`
  return [select('gateway_latency_days', summed), ...fromRest]
}

function percentilesOf(histograms: string): string {
  return `WITH counts AS (
      SELECT value, is_first_token, (${UNPACKED.bucket}) AS bucket, sum(${UNPACKED.count}) AS count
      FROM (${histograms}) AS measured CROSS JOIN LATERAL (
        SELECT packed, false AS is_first_token FROM unnest(latency) AS packed
        UNION ALL SELECT packed, true FROM unnest(first_token) AS packed
      ) AS unfolded GROUP BY 1, 2, 3
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
