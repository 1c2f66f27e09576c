import type { Queryable } from '../../storage/database.ts'
import { readLastNumber } from '../../storage/export-queue/find-settled-number.ts'

/** How far a sink is. */
export interface SinkState {
  readonly name: string
  /** Whether a living process sends to it. */
  readonly isWorkedOn: boolean
  /** Requests that it has not confirmed, or a few more. */
  readonly waiting: number
  /** How long the first of them has waited. Zero if there is none. */
  readonly waitedMs: number
  readonly sent: number
  readonly skipped: number
  readonly refused: number
  /** Attempts that failed since the last one that did not. */
  readonly failures: number
  readonly lastError: string | null
  readonly failedAtMs: number | null
  readonly confirmedAtMs: number | null
  readonly createdAtMs: number
  readonly seenAtMs: number
}

/** Returns all sinks by name, also those that were removed from the settings a moment ago. */
export async function listSinks(queryable: Queryable): Promise<SinkState[]> {
  const rows = await queryable.query<SinkRow>(LIST)
  if (rows.length === 0) return []
  const given = await readLastNumber(queryable)
  return rows.map((row) => ({
    name: row.name,
    isWorkedOn: row.is_worked_on,
    waiting: row.first === null ? 0 : Math.max(1, Number(given - row.first) + 1),
    waitedMs: row.waited_ms ?? 0,
    sent: Number(row.sent),
    skipped: Number(row.skipped),
    refused: Number(row.refused),
    failures: row.failures,
    lastError: row.last_error,
    failedAtMs: row.failed_at?.getTime() ?? null,
    confirmedAtMs: row.confirmed_at?.getTime() ?? null,
    createdAtMs: row.created_at.getTime(),
    seenAtMs: row.seen_at.getTime(),
  }))
}

interface SinkRow {
  readonly name: string
  readonly is_worked_on: boolean
  readonly first: bigint | null
  readonly waited_ms: number | null
  readonly sent: bigint
  readonly skipped: bigint
  readonly refused: bigint
  readonly failures: number
  readonly last_error: string | null
  readonly failed_at: Date | null
  readonly confirmed_at: Date | null
  readonly created_at: Date
  readonly seen_at: Date
}

const LIST = `
  SELECT name, sent, skipped, refused, failures, last_error, failed_at, confirmed_at, created_at, seen_at,
    EXISTS (SELECT FROM borrowers WHERE borrowers.id = worker_id AND closed_at IS NULL) AS is_worked_on,
    oldest.number AS first, (extract(epoch FROM clock_timestamp() - oldest.queued_at) * 1000)::float8 AS waited_ms
  FROM export_sinks LEFT JOIN LATERAL (
    SELECT number, queued_at FROM export_queue WHERE number > position ORDER BY number LIMIT 1
  ) AS oldest ON true
  ORDER BY name`
