import type { Queryable } from '../../storage/database.ts'
import { bucketSql, latencyOfBucket, UNPACKED } from './latency-buckets.ts'
import { BUCKET_MS, listBuckets, SERIES_MAX, type TimeseriesQuery } from './read-timeseries.ts'
import { DIMENSIONS, filterConditions } from './select-usage.ts'
import { firstIdAt } from '../../kernel/identifiers.ts'
import { floorDay, splitRange, type UsageRange } from './usage-range.ts'

const PERCENTILES = [50, 90, 95, 99] as const
type Percentile = (typeof PERCENTILES)[number]

/** Percentiles of durations in milliseconds. */
export type Percentiles = Readonly<Record<Percentile, number>>

/** The durations of completed requests. Null if there are none. */
export interface LatencyFigures {
  readonly requests: number
  readonly latency: Percentiles | null
  readonly firstToken: Percentiles | null
}

export interface LatencyBucket extends LatencyFigures {
  readonly range: UsageRange
}

export interface Latency {
  readonly totals: LatencyFigures
  /** Without gaps. */
  readonly buckets: readonly LatencyBucket[]
  /** The values of the dimension with the most requests. Empty without a dimension. */
  readonly series: readonly LatencySeries[]
}

interface LatencySeries {
  readonly value: string
  readonly totals: LatencyFigures
  readonly buckets: readonly LatencyBucket[]
}

interface LatencyRow {
  readonly is_total: boolean
  readonly is_all_values: boolean
  readonly is_first_token: boolean
  readonly bucket: Date | null
  /** Null for values that are not among the busiest, and without a dimension. */
  readonly value: string | null
  readonly requests: bigint
  readonly p50: bigint
  readonly p90: bigint
  readonly p95: bigint
  readonly p99: bigint
}

export async function readLatency(queryable: Queryable, query: TimeseriesQuery): Promise<Latency> {
  const ranges = listBuckets(query.range, query.granularity)
  const { sql, values } = selectCounts(query)
  const found = await queryable.query<LatencyRow>(percentilesOf(sql, query), values)
  const bucketMs = BUCKET_MS[query.granularity]
  const fill = (rows: readonly LatencyRow[]): LatencyBucket[] => {
    const byStart = Map.groupBy(rows, ({ bucket }) => bucket?.getTime())
    return ranges.map((range) => ({
      range,
      ...toFigures(byStart.get(Math.floor(range.fromMs / bucketMs) * bucketMs) ?? []),
    }))
  }
  const part = (isTotal: boolean, isAllValues: boolean) =>
    found.filter((row) => row.is_total === isTotal && row.is_all_values === isAllValues)
  const bucketsOfValues = Map.groupBy(part(false, false), ({ value }) => value)
  return {
    totals: toFigures(part(true, true)),
    buckets: fill(part(false, true)),
    series: [...Map.groupBy(part(true, false), ({ value }) => value)]
      .flatMap(([value, rows]) => (value === null ? [] : [{ value, totals: toFigures(rows) }]))
      .toSorted((a, b) => b.totals.requests - a.totals.requests || (a.value < b.value ? -1 : 1))
      .map((series) => ({ ...series, buckets: fill(bucketsOfValues.get(series.value) ?? []) })),
  }
}

function toFigures(rows: readonly LatencyRow[]): LatencyFigures {
  const whole = rows.find((row) => !row.is_first_token)
  const firstToken = rows.find((row) => row.is_first_token)
  return {
    requests: Number(whole?.requests ?? 0),
    latency: whole === undefined ? null : toPercentiles(whole),
    firstToken: firstToken === undefined ? null : toPercentiles(firstToken),
  }
}

function toPercentiles({ p50, p90, p95, p99 }: LatencyRow): Percentiles {
  const [at50 = 0, at90 = 0, at95 = 0, at99 = 0] = [p50, p90, p95, p99].map((bucket) =>
    latencyOfBucket(Number(bucket)),
  )
  return { 50: at50, 90: at90, 95: at95, 99: at99 }
}

/** Selects how many requests each bucket of the histograms has, by time and value. */
function selectCounts({ range, granularity, by, filter, ...reader }: TimeseriesQuery) {
  const values: unknown[] = [reader.accountId]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const matching = `account_id = $1${filterConditions(filter, reader, bind, '$1::uuid')}`
  const value = by === null ? 'NULL::text' : `${DIMENSIONS[by]}::text`
  const split = splitRange(range)
  const unfold = (source: string): string =>
    (['latency', 'first_token'] as const)
      .map(
        (column) => `SELECT time, ${value} AS value, ${column === 'first_token'} AS is_first_token,
          (${UNPACKED.bucket}) AS bucket, (${UNPACKED.count}) AS count FROM (${source}) AS stored, unnest(${column}) AS packed`,
      )
      .join(' UNION ALL ')
  const hours = `SELECT *, date_trunc('${granularity}', hour, 'UTC') AS time FROM latency_rollups WHERE ${matching}
    AND hour >= ${bind(new Date(split.hours.fromMs))} AND hour < ${bind(new Date(split.hours.toMs))}`
  // Of the past only days are left, which are not part of any hour.
  const days = `SELECT *, ${granularity === 'day' ? 'day' : 'NULL::timestamptz'} AS time FROM latency_days WHERE ${matching}
    AND day >= ${bind(new Date(floorDay(range.fromMs)))} AND day < ${bind(new Date(range.toMs))}`
  const edges = split.edges.flatMap(({ fromMs, toMs }) =>
    (['latency_ms', 'first_token_ms'] as const).map(
      (column) => `SELECT date_trunc('${granularity}', created_at, 'UTC') AS time, ${value} AS value,
        ${column === 'first_token_ms'} AS is_first_token, ${bucketSql(column)} AS bucket, 1 AS count
      FROM usage_records WHERE ${matching} AND id >= ${bind(firstIdAt(fromMs))} AND id < ${bind(firstIdAt(toMs))}
        AND outcome = 'completed' AND details IS NOT NULL AND ${column} IS NOT NULL`,
    ),
  )
  return { sql: [unfold(hours), unfold(days), ...edges].join(' UNION ALL '), values }
}

/** Ranks and adds up in the database, so that a year of histograms is not transferred. */
function percentilesOf(countsSql: string, { by }: TimeseriesQuery): string {
  const sets = by === null ? '(time), ()' : '(time, value), (time), (value), ()'
  const picked = PERCENTILES.map(
    (percentile) => `min(bucket) FILTER (WHERE reached * 100 >= requests * ${percentile}) AS p${percentile}`,
  )
  return `WITH counts AS MATERIALIZED (
      SELECT time, value, is_first_token, bucket, sum(count)::bigint AS count FROM (${countsSql}) AS counted GROUP BY 1, 2, 3, 4
    ), busiest AS (
      SELECT value FROM counts WHERE NOT is_first_token GROUP BY value ORDER BY sum(count) DESC, value LIMIT ${SERIES_MAX}
    ), grouped AS (
      SELECT grouping(time) = 1 AS is_total, ${by === null ? 'true' : 'grouping(value) = 1'} AS is_all_values, time,
        ${by === null ? 'NULL::text AS value' : 'value'}, is_first_token, bucket, sum(count)::bigint AS count
      FROM (
        SELECT time, busiest.value, is_first_token, bucket, count FROM counts LEFT JOIN busiest USING (value)
      ) AS ranked
      GROUP BY GROUPING SETS (${sets}), is_first_token, bucket
    ), reached AS (
      SELECT *, sum(count) OVER (PARTITION BY is_total, is_all_values, time, value, is_first_token ORDER BY bucket) AS reached,
        sum(count) OVER (PARTITION BY is_total, is_all_values, time, value, is_first_token)::bigint AS requests
      FROM grouped
    )
    SELECT is_total, is_all_values, time AS bucket, value, is_first_token, requests, ${picked.join(', ')}
    FROM reached GROUP BY is_total, is_all_values, time, value, is_first_token, requests`
}
