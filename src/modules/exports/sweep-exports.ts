import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'

interface SweepOptions {
  readonly database: Database
  /** Requests that wait longer are not sent to sinks that do not take them. */
  readonly keptMs: number
  readonly logger: Logger
  readonly onSkipped?: (sink: string, requests: number) => void
}

const ROWS_AT_ONCE = 5_000
const STEPS_MAX = 200

/**
 * Deletes what all sinks have confirmed, and what has waited too long; sinks that missed it are told in the log. Forgets sinks that no
 * process has had in its settings for as long. Any process may do it at any time.
 */
export async function sweepExports(options: SweepOptions): Promise<void> {
  const { database, keptMs } = options
  await database.query(`DELETE FROM export_sinks WHERE seen_at < now() - $1 * interval '1 millisecond'`, [
    keptMs,
  ])
  await deleteConfirmed(database)
  const skipped = new Map<string, number>()
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const rows = await database.query<{ deleted: bigint; name: string | null; missed: bigint | null }>(SKIP, [
      keptMs,
      ROWS_AT_ONCE,
    ])
    for (const { name, missed } of rows)
      if (name !== null && missed !== null && missed > 0n)
        skipped.set(name, (skipped.get(name) ?? 0) + Number(missed))
    if (Number(rows[0]?.deleted ?? 0) < ROWS_AT_ONCE) break
  }
  for (const [sink, requests] of skipped) {
    options.logger.error(
      { sink, requests },
      'requests were not exported, because the sink did not take them in time',
    )
    options.onSkipped?.(sink, requests)
  }
}

/** Deletes requests that every sink has confirmed, or all if there is no sink any more. */
export async function deleteConfirmed(database: Database): Promise<void> {
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const deleted = await database.query(DELETE_CONFIRMED, [ROWS_AT_ONCE])
    if (deleted.length < ROWS_AT_ONCE) return
  }
}

const DELETE_CONFIRMED = `
  DELETE FROM export_queue WHERE number IN (
    SELECT number FROM export_queue
    WHERE number <= coalesce((SELECT min(position) FROM export_sinks), 9223372036854775807)
    ORDER BY number LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1 AS one`

/** Positions move in the same statement, so that nothing is skipped without being counted. */
const SKIP = `
  WITH gone AS (
    DELETE FROM export_queue WHERE number IN (
      SELECT number FROM (SELECT number, queued_at FROM export_queue ORDER BY number LIMIT $2) AS first
      WHERE queued_at < now() - $1 * interval '1 millisecond')
    RETURNING number
  ), behind AS (
    SELECT name, count(*) AS missed, max(number) AS last FROM export_sinks JOIN gone ON number > position GROUP BY name
  ), moved AS (
    UPDATE export_sinks SET skipped = skipped + missed, position = greatest(position, last)
    FROM behind WHERE behind.name = export_sinks.name RETURNING export_sinks.name, missed
  )
  SELECT (SELECT count(*) FROM gone) AS deleted, name, missed
  FROM (SELECT 1) AS one LEFT JOIN moved ON true`
