import type { Database, Queryable } from '../../../storage/database.ts'
import { HOURS_ARE_KEPT_FROM, UNPACKED } from '../latency-buckets.ts'
import { COST_COLUMNS } from '../usage-costs.ts'
import { DAY_MS, floorDay } from '../usage-range.ts'
import { COUNT_COLUMNS } from '../usage-totals.ts'
import { GATEWAY_COLUMNS, GATEWAY_GRAINS, type GatewayColumn } from './gateway-grains.ts'
import { waitForWriters } from '../../../storage/wait-for-writers.ts'

/** Of one call. The next one goes on. */
const DAYS_MAX = 100
/** Readers take stale days from the rollups, so that a day which changes all the time need not be added up each time. */
const REFRESH_MS = 30 * 60_000

interface SumOptions {
  readonly database: Database
  /** Days before this time are added up. */
  readonly untilMs: number
  readonly isStopped: () => boolean
  readonly refreshMs?: number
}

/**
 * Adds up the days that have ended of all accounts together, and again those whose usage changed since, as `sumUsage` does for one
 * account. One day is one transaction, and one scan of its rollups.
 */
export async function sumGatewayDays(options: SumOptions): Promise<void> {
  const { database, untilMs, isStopped, refreshMs = REFRESH_MS } = options
  const until = dateOf(untilMs)
  await database.query('UPDATE gateway_sum_progress SET watched_until = $1 WHERE watched_until < $1', [until])
  const [unsummed] = await database.query<{ stale: Date[] }>(UNSUMMED, [until, refreshMs])
  if (unsummed === undefined || !(await waitForWriters(database, ['usage_rollups', 'usage_by_label']))) return
  let days = 0
  const goesOn = (): boolean => !isStopped() && days++ < DAYS_MAX
  for (const day of unsummed.stale) if (goesOn()) await sumStaleDay(database, day.getTime())
  while (goesOn() && (await sumNextDay(database, untilMs)));
}

function sumNextDay(database: Database, untilMs: number): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const summedUntilMs = await lockProgress(transaction)
    if (summedUntilMs >= untilMs) return false
    const [next] = await transaction.query<{ hour: Date | null }>(
      'SELECT min(hour) AS hour FROM usage_rollups WHERE hour >= $1 AND hour < $2',
      [new Date(summedUntilMs), new Date(untilMs)],
    )
    const dayMs = next?.hour ? floorDay(next.hour.getTime()) : null
    if (dayMs !== null) await sumDay(transaction, dayMs)
    const reachedMs = dayMs === null ? untilMs : dayMs + DAY_MS
    await transaction.query('UPDATE gateway_sum_progress SET summed_until = $1', [dateOf(reachedMs)])
    return reachedMs < untilMs
  })
}

function sumStaleDay(database: Database, dayMs: number): Promise<void> {
  return database.transaction(async (transaction) => {
    if (dayMs >= (await lockProgress(transaction))) return
    await sumDay(transaction, dayMs)
    await transaction.query('UPDATE gateway_sum_progress SET refreshed_at = now()')
  })
}

/** Waits for another process that adds up. */
async function lockProgress(transaction: Queryable): Promise<number> {
  const [progress] = await transaction.query<{ summed_until: Date }>(
    `SELECT summed_until::timestamp AT TIME ZONE 'UTC' AS summed_until FROM gateway_sum_progress FOR UPDATE`,
  )
  if (progress === undefined) throw new Error('gateway_sum_progress has no row')
  return progress.summed_until.getTime()
}

async function sumDay(transaction: Queryable, dayMs: number): Promise<void> {
  // First, so that what is written from now on makes the day stale again.
  await transaction.query('DELETE FROM gateway_stale_days WHERE day = $1', [dateOf(dayMs)])
  const names = GATEWAY_GRAINS.map(({ name }) => name)
  for (const table of ['gateway_usage_days', 'gateway_latency_days'])
    await transaction.query(`DELETE FROM ${table} WHERE grain = ANY ($1::text[]) AND day = $2`, [
      names,
      new Date(dayMs),
    ])
  for (const statement of [SUM_USAGE, SUM_LATENCY])
    await transaction.query(statement, [new Date(dayMs), new Date(dayMs + DAY_MS)])
}

function dateOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

/** Days that are stale but not summed yet are summed in their turn. Nothing is, while the index is built that finds a day. */
const UNSUMMED = `
  SELECT stale FROM gateway_sum_progress CROSS JOIN LATERAL (
    SELECT ARRAY(
      SELECT DISTINCT day::timestamp AT TIME ZONE 'UTC' FROM gateway_stale_days
      WHERE day < summed_until AND refreshed_at <= now() - $2 * interval '1 millisecond'
    ) AS stale
  ) AS found
  WHERE (summed_until < $1::date OR cardinality(stale) > 0)
    AND EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('usage_rollups_by_hour') AND indisvalid)`

const COLUMNS = GATEWAY_COLUMNS.join(', ')
const FIGURES = [...COUNT_COLUMNS, ...COST_COLUMNS]
const FIGURE_SUMS = FIGURES.map((column) => `sum(${column})::bigint AS ${column}`).join(', ')

const SUM_USAGE = `
  WITH finest AS MATERIALIZED (
    SELECT ${COLUMNS}, ${FIGURE_SUMS} FROM usage_rollups
    WHERE hour >= $1::timestamptz AND hour < $2::timestamptz GROUP BY ${COLUMNS}
  )
  INSERT INTO gateway_usage_days (grain, day, ${COLUMNS}, ${FIGURES.join(', ')})
  ${GATEWAY_GRAINS.map(
    ({ name, columns }) =>
      `SELECT '${name}', $1::timestamptz, ${columnsOf(columns)}, ${FIGURE_SUMS} FROM finest GROUP BY ${columns.join(', ')}`,
  ).join(' UNION ALL ')}`

/** Of the hours, and of the days that hours were added up to. */
const SUM_LATENCY = `
  WITH finest AS MATERIALIZED (
    SELECT ${COLUMNS}, is_first_token, ${UNPACKED.bucket} AS bucket, sum(${UNPACKED.count})::bigint AS count
    FROM (
      SELECT ${COLUMNS}, latency, first_token FROM latency_rollups WHERE hour >= $1::timestamptz AND hour < $2::timestamptz
      UNION ALL SELECT ${COLUMNS}, latency, first_token FROM latency_days
        WHERE day = $1::timestamptz AND $1::timestamptz < ${HOURS_ARE_KEPT_FROM}
    ) AS measured CROSS JOIN LATERAL (
      SELECT packed, false AS is_first_token FROM unnest(latency) AS packed
      UNION ALL SELECT packed, true FROM unnest(first_token) AS packed
    ) AS unfolded
    GROUP BY ${COLUMNS}, is_first_token, bucket
  )
  INSERT INTO gateway_latency_days (grain, day, ${COLUMNS}, latency, first_token)
  SELECT grain, $1::timestamptz, ${COLUMNS}, coalesce(array_agg(packed) FILTER (WHERE NOT is_first_token), '{}'),
    coalesce(array_agg(packed) FILTER (WHERE is_first_token), '{}')
  FROM (${GATEWAY_GRAINS.filter(({ hasLatency }) => hasLatency)
    .map(
      ({ name, columns }) =>
        `SELECT '${name}' AS grain, ${columnsOf(columns)}, is_first_token, (bucket << 32) + sum(count)::bigint AS packed
         FROM finest GROUP BY ${columns.join(', ')}, is_first_token, bucket`,
    )
    .join(' UNION ALL ')}) AS summed
  GROUP BY grain, ${COLUMNS}`

function columnsOf(columns: readonly GatewayColumn[]): string {
  return GATEWAY_COLUMNS.map((column) =>
    columns.includes(column) ? column : `NULL::${column.endsWith('_id') ? 'uuid' : 'text'} AS ${column}`,
  ).join(', ')
}
