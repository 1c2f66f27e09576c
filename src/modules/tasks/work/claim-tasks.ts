import { FROM_LIVING_BORROWER } from '../../../storage/borrowing/living-borrower.ts'
import type { Database } from '../../../storage/database.ts'
import type { Environment } from '../../keys/keys.ts'
import type { ClaimedTask, StoredJob, SubmitTarget } from './task-performer.ts'
import type { TaskType } from '../task.ts'

/** The limits on concurrent tasks over all processes. */
export interface TaskLimits {
  readonly concurrentMax: number | null
  readonly concurrentMaxByProvider: ReadonlyMap<string, number>
}

export interface ClaimOrder {
  /** The borrower that claims. A borrower that was declared dead gets no tasks. */
  readonly workerId: string
  readonly countMax: number
  readonly limits: TaskLimits
}

export interface Claim {
  readonly task: ClaimedTask
  readonly workerId: string
  /** All attempts are used. The worker only has to mark the task as failed. */
  readonly isExhausted: boolean
}

/**
 * Claims the next tasks. Order: higher priority first; then the account with the fewest running tasks, and among those the one
 * that has waited longest; then the oldest task.
 */
export function claimTasks(database: Database, order: ClaimOrder): Promise<Claim[]> {
  const { workerId, countMax, limits } = order
  return database.transaction(async (transaction) => {
    const alive = await transaction.query(BEGIN_CLAIM, [workerId, CLAIM_LOCK_ID])
    if (alive.length === 0) return []
    const rows = await transaction.query<ClaimRow>(CLAIM, [
      workerId,
      countMax,
      limits.concurrentMax,
      [...limits.concurrentMaxByProvider.keys()],
      [...limits.concurrentMaxByProvider.values()],
    ])
    return rows.map((row) => ({
      task: claimedFromRow(row),
      workerId,
      isExhausted: row.is_exhausted,
    }))
  })
}

/** The advisory lock that serialises claims, so that the limits are exact. An arbitrary constant that all processes share. */
const CLAIM_LOCK_ID = 7_275_929_002

// Commits asynchronously: if a database crash undoes a claim, the first durable write of the task detects it. Bitmap scans are
// off, because they visit again and again all dead rows that ever were `processing`; a plain index scan marks dead entries.
const BEGIN_CLAIM = `
  SELECT set_config('synchronous_commit', 'off', true), set_config('enable_bitmapscan', 'off', true),
    pg_advisory_xact_lock($2)
  ${FROM_LIVING_BORROWER}`

export const CLAIMED_COLUMNS = `tasks.id, tasks.account_id, tasks.project_id, tasks.key_id, tasks.environment, tasks.request_id, tasks.type,
  tasks.model, tasks.requested_model, tasks.work, tasks.hold_nano_usd, tasks.is_held, tasks.attempt, tasks.is_exhausted,
  tasks.created_at, tasks.labels, tasks.price_version, tasks.traceparent,
  coalesce(extract(epoch FROM clock_timestamp() - tasks.started_at) * 1000, 0)::float8 AS started_ms_ago,
  (extract(epoch FROM tasks.deadline_at - clock_timestamp()) * 1000)::float8 AS deadline_in_ms,
  tasks.job, tasks.submitting_to`

const IS_CLAIMABLE = `status = 'pending' AND (not_before IS NULL OR not_before <= now())
  AND (provider IS NULL OR provider NOT IN (SELECT full_provider FROM full_providers))`

// Finds the waiting accounts by skipping from one to the next in the index, independent of the number of tasks of each. No more
// accounts than wanted tasks are needed: the accounts after them have no fewer running tasks than these.
const CLAIM = `
  WITH RECURSIVE running AS MATERIALIZED (
    SELECT account_id, provider, count(*) AS running FROM tasks WHERE status = 'processing' GROUP BY account_id, provider
  ), provider_limits AS (
    SELECT provider, limit_max, coalesce((SELECT sum(running) FROM running WHERE running.provider = limits.provider), 0)
      AS running FROM unnest($4::text[], $5::int[]) AS limits (provider, limit_max)
  ), full_providers AS MATERIALIZED (
    SELECT provider AS full_provider FROM provider_limits WHERE running >= limit_max
  ), waiting (account_id, priority) AS (
    (SELECT account_id, priority FROM tasks WHERE ${IS_CLAIMABLE} ORDER BY account_id, priority DESC LIMIT 1)
    UNION ALL
    SELECT next.account_id, next.priority FROM waiting, LATERAL (
      SELECT account_id, priority FROM tasks WHERE ${IS_CLAIMABLE} AND account_id > waiting.account_id
      ORDER BY account_id, priority DESC LIMIT 1) AS next
  ), accounts_in_turn AS (
    SELECT waiting.account_id, served_at,
      coalesce((SELECT sum(running) FROM running WHERE running.account_id = waiting.account_id), 0) AS running
    FROM waiting LEFT JOIN task_turns USING (account_id)
    ORDER BY waiting.priority DESC, running, served_at NULLS FIRST LIMIT $2
  ), candidates AS (
    SELECT task.id, task.priority, task.provider, served_at,
      running + row_number() OVER (PARTITION BY accounts_in_turn.account_id ORDER BY task.priority DESC, task.id) AS turn
    FROM accounts_in_turn, LATERAL (
      SELECT id, priority, provider FROM tasks WHERE ${IS_CLAIMABLE} AND account_id = accounts_in_turn.account_id
      ORDER BY priority DESC, id LIMIT $2) AS task
  ), allowed AS (
    SELECT candidates.* FROM (
      SELECT *, row_number() OVER (
        PARTITION BY provider ORDER BY priority DESC, turn, served_at NULLS FIRST, id) AS number FROM candidates
    ) AS candidates LEFT JOIN provider_limits USING (provider)
    WHERE limit_max IS NULL OR running + number <= limit_max
    ORDER BY priority DESC, turn, served_at NULLS FIRST, id
    LIMIT greatest(0, least($2, coalesce($3::int - (SELECT coalesce(sum(running), 0) FROM running), $2)))
  ), locked AS (
    SELECT id FROM tasks WHERE id IN (SELECT id FROM allowed) AND status = 'pending' FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE tasks SET status = 'processing', worker_id = $1, not_before = NULL, updated_at = now(),
      started_at = coalesce(started_at, now()),
      deadline_at = CASE WHEN started_at IS NULL AND deadline_at > now()
        THEN now() + deadline_ms * interval '1 millisecond' ELSE deadline_at END
    FROM locked WHERE tasks.id = locked.id RETURNING ${CLAIMED_COLUMNS}
  ), turns AS (
    INSERT INTO task_turns (account_id, served_at) SELECT DISTINCT account_id, now() FROM claimed
    ON CONFLICT (account_id) DO UPDATE SET served_at = excluded.served_at
  )
  SELECT * FROM claimed`

export interface ClaimRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly key_id: string
  readonly environment: Environment
  readonly request_id: string
  readonly type: TaskType
  readonly model: string
  readonly requested_model: string
  readonly work: unknown
  readonly hold_nano_usd: bigint
  readonly is_held: boolean
  readonly attempt: number
  readonly is_exhausted: boolean
  readonly created_at: Date
  readonly labels: string[] | null
  readonly price_version: string | null
  readonly traceparent: string | null
  /** Both are measured with the database clock, which also set the times. */
  readonly started_ms_ago: number
  readonly deadline_in_ms: number
  readonly job: StoredJob | null
  readonly submitting_to: SubmitTarget | null
}

export function claimedFromRow(row: ClaimRow): ClaimedTask {
  return {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    keyId: row.key_id,
    environment: row.environment,
    requestId: row.request_id,
    type: row.type,
    model: row.model,
    requestedModel: row.requested_model,
    work: row.work,
    holdNanoUsd: row.hold_nano_usd,
    isHeld: row.is_held,
    attempt: row.attempt,
    createdAtMs: row.created_at.getTime(),
    labels: row.labels,
    priceVersion: row.price_version,
    traceparent: row.traceparent,
    startedAtMs: performance.now() - row.started_ms_ago,
    deadlineAtMs: performance.now() + row.deadline_in_ms,
    job: row.job,
    submittingTo: row.submitting_to,
  }
}

/** Reads a cancelled task with its job, to cancel it upstream. */
export async function readCancelledTask(database: Database, taskId: string): Promise<ClaimedTask | null> {
  const [row] = await database.query<ClaimRow>(
    `SELECT ${CLAIMED_COLUMNS} FROM tasks WHERE id = $1 AND status = 'cancelled'`,
    [taskId],
  )
  return row === undefined ? null : claimedFromRow(row)
}
