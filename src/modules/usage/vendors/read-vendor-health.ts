import type { Queryable } from '../../../storage/database.ts'
import { latencyOfBucket, UNPACKED } from '../latency-buckets.ts'
import { DAY_MS, floorDay, floorHour, HOUR_MS, type UsageRange } from '../usage-range.ts'

export interface VendorHealthQuery {
  readonly range: UsageRange
  readonly granularity: 'hour' | 'day'
  /** Null for all. */
  readonly provider: string | null
  readonly model: string | null
}

/** How calls of one provider went. */
export interface HealthFigures {
  readonly calls: number
  readonly failures: number
  readonly limited: number
  /** Milliseconds. Null if nothing was measured. */
  readonly latency: Spread | null
  readonly firstToken: Spread | null
  /** Of one stream. Null if nothing was streamed. */
  readonly tokensPerSecond: number | null
  /** Tokens of all streams. */
  readonly writtenTokens: number
  /** Hours with calls, and those of them in which at least half of the calls failed. */
  readonly hours: number
  readonly hoursDown: number
}

interface Spread {
  readonly p50: number
  readonly p95: number
}

export interface VendorHealth extends HealthFigures {
  readonly provider: string
  /** Without gaps, oldest first. */
  readonly buckets: readonly (HealthFigures & { readonly range: UsageRange })[]
  readonly models: readonly (HealthFigures & { readonly model: string })[]
}

interface FiguresRow {
  readonly provider: string
  /** Null for all of them. */
  readonly bucket: Date | null
  readonly model: string | null
  readonly calls: bigint
  readonly failures: bigint
  readonly limited: bigint
  readonly written_tokens: bigint
  readonly written_ms: bigint
  readonly hours: bigint
  readonly hours_down: bigint
  readonly latency_p50: bigint | null
  readonly latency_p95: bigint | null
  readonly first_token_p50: bigint | null
  readonly first_token_p95: bigint | null
}

/** Returns the whole hours or days that a range touches. */
export function wholeBuckets({ fromMs, toMs }: UsageRange, granularity: 'hour' | 'day'): UsageRange {
  const floor = granularity === 'hour' ? floorHour : floorDay
  return { fromMs: floor(fromMs), toMs: floor(toMs - 1) + BUCKET_MS[granularity] }
}

const BUCKET_MS = { hour: HOUR_MS, day: DAY_MS } as const

/** Returns the providers that were called, by name. */
export async function readVendorHealth(
  queryable: Queryable,
  { range, granularity, provider, model }: VendorHealthQuery,
): Promise<VendorHealth[]> {
  const { fromMs, toMs } = wholeBuckets(range, granularity)
  const values = [granularity, new Date(fromMs), new Date(toMs), provider, model]
  const rows = await queryable.query<FiguresRow>(READ, values)
  const bucketMs = BUCKET_MS[granularity]
  const starts = Array.from(
    { length: Math.round((toMs - fromMs) / bucketMs) },
    (_, index) => fromMs + index * bucketMs,
  )
  return [...Map.groupBy(rows, (row) => row.provider)].map(([name, found]) => {
    const byStart = new Map(found.flatMap((row) => (row.bucket ? [[row.bucket.getTime(), row]] : [])))
    return {
      provider: name,
      ...toFigures(found.find(({ bucket, model: one }) => bucket === null && one === null)),
      buckets: starts.map((startMs) => ({
        range: { fromMs: startMs, toMs: startMs + bucketMs },
        ...toFigures(byStart.get(startMs)),
      })),
      models: found.flatMap((row) => (row.model === null ? [] : [{ model: row.model, ...toFigures(row) }])),
    }
  })
}

function toFigures(row: FiguresRow | undefined): HealthFigures {
  if (row === undefined) return NOT_CALLED
  const writtenMs = Number(row.written_ms)
  return {
    calls: Number(row.calls),
    failures: Number(row.failures),
    limited: Number(row.limited),
    latency: spreadOf(row.latency_p50, row.latency_p95),
    firstToken: spreadOf(row.first_token_p50, row.first_token_p95),
    tokensPerSecond:
      writtenMs === 0 ? null : Math.round((Number(row.written_tokens) / writtenMs) * 10_000) / 10,
    writtenTokens: Number(row.written_tokens),
    hours: Number(row.hours),
    hoursDown: Number(row.hours_down),
  }
}

const NOT_CALLED: HealthFigures = {
  calls: 0,
  failures: 0,
  limited: 0,
  latency: null,
  firstToken: null,
  tokensPerSecond: null,
  writtenTokens: 0,
  hours: 0,
  hoursDown: 0,
}

function spreadOf(p50: bigint | null, p95: bigint | null): Spread | null {
  if (p50 === null || p95 === null) return null
  return { p50: latencyOfBucket(Number(p50)), p95: latencyOfBucket(Number(p95)) }
}

const isWanted = `begins >= $2::timestamptz AND begins < $3::timestamptz
  AND ($4::text IS NULL OR provider = $4) AND ($5::text IS NULL OR model = $5)`

/** All of a provider, each of its buckets and each of its models. */
const SETS = '(provider), (provider, bucket), (provider, model)'

const percentile = (percent: number, column: string): string =>
  `min(place) FILTER (WHERE reached * 100 >= total * ${percent} AND of = '${column}') AS ${column}_p${percent}`

const READ = `
  WITH chosen AS MATERIALIZED (
    SELECT begins AS bucket, provider, model, calls, failures, limited, latency, first_token, written_tokens, written_ms
    FROM provider_health WHERE grain = $1::text AND ${isWanted}
  ), figures AS (
    SELECT provider, bucket, model, sum(calls)::bigint AS calls, sum(failures)::bigint AS failures,
      sum(limited)::bigint AS limited, sum(written_tokens)::bigint AS written_tokens, sum(written_ms)::bigint AS written_ms
    FROM chosen GROUP BY GROUPING SETS (${SETS})
  ), by_hour AS (
    SELECT provider, begins, date_trunc($1::text, begins, 'UTC') AS bucket, sum(failures) * 2 >= sum(calls) AS is_down
    FROM provider_health WHERE grain = 'hour' AND ${isWanted} GROUP BY 1, 2 HAVING sum(calls) > 0
  ), hours AS (
    SELECT provider, bucket, count(*) AS hours, count(*) FILTER (WHERE is_down) AS hours_down
    FROM by_hour GROUP BY GROUPING SETS ((provider), (provider, bucket))
  ), hours_of_models AS (
    SELECT provider, model, count(*) AS hours, count(*) FILTER (WHERE failures * 2 >= calls) AS hours_down
    FROM provider_health WHERE grain = 'hour' AND calls > 0 AND ${isWanted} GROUP BY provider, model
  ), places AS (
    SELECT provider, bucket, model, of, place, sum(count)::bigint AS count FROM (
      SELECT provider, bucket, model, 'latency' AS of, (${UNPACKED.bucket}) AS place, (${UNPACKED.count}) AS count
      FROM chosen, unnest(latency) AS packed
      UNION ALL SELECT provider, bucket, model, 'first_token', (${UNPACKED.bucket}), (${UNPACKED.count})
      FROM chosen, unnest(first_token) AS packed
    ) AS unfolded GROUP BY GROUPING SETS (${SETS.replaceAll(')', ', of, place)')})
  ), reached AS (
    SELECT *, sum(count) OVER (PARTITION BY provider, bucket, model, of ORDER BY place) AS reached,
      sum(count) OVER (PARTITION BY provider, bucket, model, of) AS total FROM places
  ), spreads AS (
    SELECT provider, bucket, model, ${['latency', 'first_token'].flatMap((column) => [percentile(50, column), percentile(95, column)]).join(', ')}
    FROM reached GROUP BY provider, bucket, model
  )
  SELECT figures.*, coalesce(hours.hours, hours_of_models.hours, 0) AS hours,
    coalesce(hours.hours_down, hours_of_models.hours_down, 0) AS hours_down,
    latency_p50, latency_p95, first_token_p50, first_token_p95
  FROM figures
  LEFT JOIN hours ON figures.model IS NULL AND hours.provider = figures.provider
    AND hours.bucket IS NOT DISTINCT FROM figures.bucket
  LEFT JOIN hours_of_models ON hours_of_models.provider = figures.provider AND hours_of_models.model = figures.model
  LEFT JOIN spreads ON spreads.provider = figures.provider AND spreads.bucket IS NOT DISTINCT FROM figures.bucket
    AND spreads.model IS NOT DISTINCT FROM figures.model
  ORDER BY figures.provider, figures.bucket, figures.calls DESC, figures.model`
