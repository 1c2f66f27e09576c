import { listMediaIds } from './results/present-result.ts'
import type { Task, TaskStatus, TaskType } from './task.ts'

export interface TaskRow {
  readonly id: string
  readonly type: TaskType
  readonly status: TaskStatus
  readonly requested_model: string
  readonly progress: number
  readonly is_progress_known: boolean
  readonly expected_ms: number
  /** Since the first start; null before it. */
  readonly running_ms: number | null
  readonly queue_position: number | null
  readonly attempt: number
  readonly created_at: Date
  readonly started_at: Date | null
  readonly completed_at: Date | null
  readonly updated_at: Date
  readonly expires_at: Date
  readonly result: unknown
  readonly error_code: string | null
  readonly error_message: string | null
  readonly usage: unknown
  readonly cost_nano_usd: bigint | null
  readonly cancel_cost_nano_usd: bigint
  readonly hold_nano_usd: bigint
  readonly metadata: Record<string, unknown> | null
  readonly prompt: string | null
}

/** The count stops here, because an exact larger number is not worth its cost. */
const QUEUE_POSITION_MAX = 1_000

/** The whole prompt may be long, and lists only need to tell tasks apart. */
const PROMPT_LENGTH_MAX = 500

/** Everything but the position in the queue. Uses the time of the database, so that progress does not decrease between two processes. */
export const OWN_COLUMNS = `tasks.id, tasks.type, tasks.status, tasks.requested_model, tasks.progress,
  tasks.is_progress_known, tasks.expected_ms, tasks.attempt, tasks.created_at, tasks.started_at, tasks.completed_at,
  tasks.updated_at, tasks.expires_at, tasks.result, tasks.error_code, tasks.error_message, tasks.usage, tasks.cost_nano_usd,
  tasks.cancel_cost_nano_usd, tasks.hold_nano_usd, tasks.metadata,
  CASE WHEN tasks.type <> 'response'
    THEN left(coalesce(tasks.work #>> '{work,prompt}', tasks.work #>> '{work,input}'), ${PROMPT_LENGTH_MAX}) END AS prompt,
  (extract(epoch FROM now() - tasks.started_at) * 1000)::float8 AS running_ms`

export const TASK_COLUMNS = `${OWN_COLUMNS},
  CASE WHEN tasks.status = 'pending' THEN (
    SELECT count(*)::int FROM (
      SELECT FROM tasks earlier WHERE earlier.status = 'pending'
        AND (earlier.priority > tasks.priority OR earlier.priority = tasks.priority AND earlier.id < tasks.id)
      LIMIT ${QUEUE_POSITION_MAX}
    ) AS before
  ) END AS queue_position`

export function taskFromRow(row: TaskRow): Task {
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    model: row.requested_model,
    progress: progressOf(row),
    queuePosition: row.queue_position,
    attempt: row.attempt,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    result: row.result,
    mediaIds: listMediaIds(row.result),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    usage: row.usage,
    costNanoUsd: row.cost_nano_usd ?? (row.cancel_cost_nano_usd > 0n ? row.cancel_cost_nano_usd : null),
    refundedNanoUsd: row.status === 'cancelled' ? row.hold_nano_usd - row.cancel_cost_nano_usd : null,
    metadata: row.metadata,
    prompt: row.prompt,
  }
}

function progressOf(row: TaskRow): number {
  if (row.status === 'completed') return 100
  const isGuessed = !row.is_progress_known && (row.status === 'pending' || row.status === 'processing')
  return isGuessed
    ? Math.max(row.progress, guessProgress(row.running_ms ?? 0, row.expected_ms))
    : row.progress
}

const GUESS_MAX = 95
const GUESS_STEEPNESS = 1.5

/** Returns an estimate in percent: about three quarters after the expected time, then slower and slower. */
function guessProgress(runningMs: number, expectedMs: number): number {
  return Math.floor(GUESS_MAX * (1 - Math.exp((-GUESS_STEEPNESS * Math.max(0, runningMs)) / expectedMs)))
}

/**
 * The same estimate in SQL, for a row that gets its first reported progress. The exponent is limited, because beyond that the
 * value no longer changes.
 */
export const GUESS_IN_SQL = `floor(${GUESS_MAX} * (1 - exp(-least(50, ${GUESS_STEEPNESS}
  * greatest(0, extract(epoch FROM now() - started_at)::float8 * 1000) / expected_ms))))::int`
