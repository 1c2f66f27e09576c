import { invalidValue } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Reader } from '../keys/keys.ts'
import {
  selectUsage,
  valueOf,
  type Dimension,
  type UsageFilter,
  type UsageSelection,
} from './select-usage.ts'
import { DAY_MS, HOUR_MS, splitRange, type UsageRange } from './usage-range.ts'
import {
  addTotals,
  compareByCost,
  NO_USAGE,
  SUMS,
  totalsFromRow,
  type UsageTotals,
  type UsageTotalsRow,
} from './usage-totals.ts'

export const GRANULARITIES = ['hour', 'day'] as const
export type Granularity = (typeof GRANULARITIES)[number]

export interface TimeseriesQuery extends Reader {
  readonly range: UsageRange
  readonly granularity: Granularity
  readonly by: Dimension | null
  /** Of the tag to group by, if `by` is one. */
  readonly tagName?: string
  readonly filter: UsageFilter
}

export interface UsageBucket {
  /** An hour or a day in UTC, cut to the range at both ends. */
  readonly range: UsageRange
  readonly totals: UsageTotals
}

export interface Timeseries {
  /** Without gaps: buckets without usage contain zeros. */
  readonly buckets: readonly UsageBucket[]
  /** The values of the dimension with the highest cost, each over the same buckets. Empty without a dimension. */
  readonly series: readonly { readonly value: string; readonly buckets: readonly UsageBucket[] }[]
  /** All other values together, if there are more than are shown. */
  readonly rest: readonly UsageBucket[]
}

export const BUCKETS_MAX = 1_000
export const SERIES_MAX = 10

export const BUCKET_MS: Readonly<Record<Granularity, number>> = { hour: HOUR_MS, day: DAY_MS }

interface BucketRow extends UsageTotalsRow {
  readonly bucket: Date
  /** Null for values that are not among the most expensive, and without a dimension. */
  readonly value: string | null
}

export async function readTimeseries(queryable: Queryable, query: TimeseriesQuery): Promise<Timeseries> {
  const usage = selectUsage(query, splitRange(query.range), query.filter, query.tagName)
  const value = query.by === null ? 'NULL::text' : valueOf(query.by)
  const hours = `SELECT hour, ${value} AS value, ${SUMS} FROM (${usage.sql}) AS usage GROUP BY 1, 2`
  return readSeries(queryable, { sql: hours, values: usage.values }, query)
}

interface SeriesQuery {
  readonly range: UsageRange
  readonly granularity: Granularity
  /** Null: no series. */
  readonly by: string | null
}

/** Reads a timeseries of usage by hour and value. */
export async function readSeries(
  queryable: Queryable,
  hours: UsageSelection,
  query: SeriesQuery,
): Promise<Timeseries> {
  const bucketRanges = listBuckets(query.range, query.granularity)
  const statement =
    query.by === null
      ? `SELECT ${bucketOf(query)} AS bucket, NULL AS value, ${SUMS} FROM (${hours.sql}) AS hours GROUP BY 1`
      : splitByDearest(hours.sql, bucketOf(query))
  const rows = await queryable.query<BucketRow>(statement, hours.values)

  const fill = (part: readonly BucketRow[]): UsageBucket[] => fillBuckets(bucketRanges, query, part)
  const parts = Map.groupBy(rows, ({ value }) => value)
  const rest = parts.get(null)
  return {
    buckets: fill(rows),
    series: [...parts]
      .flatMap(([value, part]) => (value === null ? [] : [{ value, part, totals: sumRows(part) }]))
      .toSorted(compareByCost)
      .map(({ value, part }) => ({ value, buckets: fill(part) })),
    rest: query.by === null || rest === undefined ? [] : fill(rest),
  }
}

// Applied after hours are summed, because truncating a time costs more than summing a row.
function bucketOf({ granularity }: SeriesQuery): string {
  return `date_trunc('${granularity}', hour, 'UTC')`
}

/** Ranks in the database, so that thousands of unused keys are not transferred. */
function splitByDearest(hoursSql: string, bucket: string): string {
  return `WITH hours AS MATERIALIZED (${hoursSql}), dearest AS (
       SELECT value FROM hours GROUP BY value
       ORDER BY sum(cost_nano_usd) DESC, sum(requests) DESC, value LIMIT ${SERIES_MAX}
     )
     SELECT ${bucket} AS bucket, dearest.value::text, ${SUMS} FROM hours LEFT JOIN dearest USING (value) GROUP BY 1, 2`
}

export function listBuckets({ fromMs, toMs }: UsageRange, granularity: Granularity): UsageRange[] {
  const bucketMs = BUCKET_MS[granularity]
  const firstMs = Math.floor(fromMs / bucketMs) * bucketMs
  const count = Math.ceil((toMs - firstMs) / bucketMs)
  if (count > BUCKETS_MAX) {
    throw invalidValue(
      'granularity',
      `This range has ${count} buckets of one ${granularity}, and ${BUCKETS_MAX} is the most. Ask for a shorter range or a coarser granularity.`,
    )
  }
  return Array.from({ length: count }, (_, index) => ({
    fromMs: Math.max(fromMs, firstMs + index * bucketMs),
    toMs: Math.min(toMs, firstMs + (index + 1) * bucketMs),
  }))
}

function fillBuckets(
  ranges: readonly UsageRange[],
  { granularity }: SeriesQuery,
  rows: readonly BucketRow[],
): UsageBucket[] {
  const bucketMs = BUCKET_MS[granularity]
  const byStart = new Map<number, UsageTotals>()
  for (const row of rows) {
    const startMs = row.bucket.getTime()
    byStart.set(startMs, addTotals(byStart.get(startMs) ?? NO_USAGE, totalsFromRow(row)))
  }
  return ranges.map((range) => ({
    range,
    totals: byStart.get(Math.floor(range.fromMs / bucketMs) * bucketMs) ?? NO_USAGE,
  }))
}

function sumRows(rows: readonly BucketRow[]): UsageTotals {
  return rows.map(totalsFromRow).reduce(addTotals, NO_USAGE)
}
