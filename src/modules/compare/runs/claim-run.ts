import { toStorable } from '../../../kernel/storable-text.ts'
import { FROM_LIVING_BORROWER } from '../../../storage/borrowing/living-borrower.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import { wholeAccount } from '../../../storage/place.ts'
import { HAS_BATCHES, HAS_UNENDED_BATCHES } from '../batched/run-batches.ts'
import type { RunClaim } from '../cells/cell-writer.ts'
import { readRun } from './read-runs.ts'
import type { Run, RunError } from './run.ts'

export interface ClaimedRun {
  readonly run: Run
  readonly claim: RunClaim
}

/** Concurrent runs of one account over all processes, so that other accounts do not wait behind them. */
const RUNS_OF_ACCOUNT_MAX = 2
/** Advisory lock that serialises claims, so that the limit is exact. */
const CLAIM_LOCK_ID = 7_275_929_003

/** Claims the next run: first by the fewest running runs of its account, then by age. Null if there is none. */
export function claimRun(database: Database, workerId: string): Promise<ClaimedRun | null> {
  return database.transaction(async (transaction) => {
    const alive = await transaction.query(BEGIN_CLAIM, [workerId, CLAIM_LOCK_ID])
    if (alive.length === 0) return null
    const [row] = await transaction.query<{ id: string; account_id: string; claim: number }>(CLAIM, [
      workerId,
      RUNS_OF_ACCOUNT_MAX,
    ])
    if (row === undefined) return null
    const run = await readRun(transaction, wholeAccount(row.account_id), row.id)
    return { run, claim: { runId: row.id, workerId, number: row.claim } }
  })
}

const BEGIN_CLAIM = `SELECT pg_advisory_xact_lock($2) ${FROM_LIVING_BORROWER}`

// Consider only the oldest run of each account. A resumed run waits until the worker that it was cancelled at has left it. One whose
// batches have ended is claimed to collect their answers, also after it was cancelled.
const IS_WAITING = `worker_id IS NULL AND leaving_worker_id IS NULL AND (
    status = 'queued' AND awaits_batches IS NOT TRUE
    OR awaits_batches AND status IN ('queued', 'running', 'cancelled') AND NOT ${HAS_UNENDED_BATCHES})`

const CLAIM = `
  WITH first_of_account AS (
    SELECT DISTINCT ON (account_id) id, account_id FROM compare_runs
    WHERE ${IS_WAITING} ORDER BY account_id, id
  ), in_turn AS (
    SELECT id, (SELECT count(*) FROM compare_runs AS other
      WHERE other.account_id = first_of_account.account_id AND other.status = 'running'
        AND other.awaits_batches IS NOT TRUE) AS running FROM first_of_account
  )
  UPDATE compare_runs SET status = CASE status WHEN 'cancelled' THEN status ELSE 'running' END, worker_id = $1, claim = claim + 1,
    awaits_batches = NULL, updated_at = now(),
    started_at = coalesce(started_at, now())
  WHERE ${IS_WAITING} AND id = (SELECT id FROM in_turn WHERE running < $2 ORDER BY running, id LIMIT 1)
  RETURNING id, account_id, claim`

const IS_STANDING = `id = $1 AND worker_id = $2 AND claim = $3 AND status = 'running'`

/** Returns the claims that are still valid. The others were cancelled or taken over: a cancelled run has a worker only to collect answers. */
export async function findStandingRuns(
  queryable: Queryable,
  claims: readonly RunClaim[],
): Promise<ReadonlySet<string>> {
  const rows = await queryable.query<{ id: string }>(
    `SELECT run.id FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS held (id, worker_id, claim)
     JOIN compare_runs AS run USING (id, worker_id, claim) WHERE run.status IN ('running', 'cancelled')`,
    [
      claims.map(({ runId }) => runId),
      claims.map(({ workerId }) => workerId),
      claims.map(({ number }) => number),
    ],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Ends the run. Without an error it is completed, unless no cell was completed. */
export async function endRun(database: Database, claim: RunClaim, error: RunError | null): Promise<void> {
  await database.transaction(async (transaction) => {
    const rows = await transaction.query(END, [
      ...claimValues(claim),
      error?.code ?? null,
      error === null ? null : toStorable(error.message),
    ])
    // Another run may have waited for this one to end.
    if (rows.length > 0) await addJob(transaction, 'compare')
  })
}

const NOTHING_COMPLETED = 'No cell of the run could be completed.'

const END = `
  UPDATE compare_runs SET worker_id = NULL, completed_at = now(), updated_at = now(),
    status = CASE WHEN $4::text IS NOT NULL OR cells_done = 0 THEN 'failed' ELSE 'completed' END,
    error_code = coalesce($4, CASE WHEN cells_done = 0 THEN 'no_cell_completed' END),
    error_message = coalesce($5, CASE WHEN cells_done = 0 THEN '${NOTHING_COMPLETED}' END)
  WHERE ${IS_STANDING} RETURNING id`

/** The worker of a cancelled run has read the last answers to their usage. From now on a resumed run may be claimed. */
export async function leaveRun(database: Database, { runId, workerId }: RunClaim): Promise<void> {
  await database.transaction(async (transaction) => {
    const rows = await transaction.query(
      'UPDATE compare_runs SET leaving_worker_id = NULL WHERE id = $1 AND leaving_worker_id = $2 RETURNING id',
      [runId, workerId],
    )
    if (rows.length > 0) await addJob(transaction, 'compare')
  })
}

/** Whether a claim that no longer stands ended because its run was cancelled, and not because another worker has it. */
export async function wasCancelled(queryable: Queryable, { runId, workerId }: RunClaim): Promise<boolean> {
  const rows = await queryable.query('SELECT FROM compare_runs WHERE id = $1 AND leaving_worker_id = $2', [
    runId,
    workerId,
  ])
  return rows.length > 0
}

/** SQL: another worker goes on with the run. Of a cancelled one, it collects the answers of its batches. */
const HAND_BACK = `worker_id = NULL, updated_at = now(), awaits_batches = CASE status WHEN 'cancelled' THEN true END,
  status = CASE status WHEN 'cancelled' THEN status ELSE 'queued' END`

/** Returns the run of a stopping worker to the queue. */
export async function handBackRun(database: Database, claim: RunClaim): Promise<void> {
  await database.transaction(async (transaction) => {
    const rows = await transaction.query(
      `UPDATE compare_runs SET ${HAND_BACK}
       WHERE id = $1 AND worker_id = $2 AND claim = $3 AND status IN ('running', 'cancelled') RETURNING id`,
      claimValues(claim),
    )
    if (rows.length > 0) await addJob(transaction, 'compare')
  })
}

/** Nobody works on the run until its batches have ended. */
export async function leaveToBatches(database: Database, claim: RunClaim): Promise<void> {
  await database.query(
    `UPDATE compare_runs SET worker_id = NULL, awaits_batches = ${HAS_BATCHES}, updated_at = now(),
       status = CASE WHEN status = 'cancelled' OR ${HAS_BATCHES} THEN status ELSE 'queued' END
     WHERE id = $1 AND worker_id = $2 AND claim = $3 AND status IN ('running', 'cancelled')`,
    claimValues(claim),
  )
}

/**
 * Returns runs to the queue that this worker has claimed but does not work on, because their end could not be written. Skips runs
 * claimed a moment ago.
 */
export async function handBackStrays(
  database: Database,
  workerId: string,
  kept: readonly string[],
): Promise<void> {
  await database.query(
    `UPDATE compare_runs SET ${HAND_BACK}
     WHERE worker_id = $1 AND status IN ('running', 'cancelled') AND id <> ALL ($2::uuid[]) AND updated_at < now() - interval '1 minute'`,
    [workerId, kept],
  )
  await database.query(
    `UPDATE compare_runs SET leaving_worker_id = NULL
     WHERE leaving_worker_id = $1 AND id <> ALL ($2::uuid[]) AND updated_at < now() - interval '1 minute'`,
    [workerId, kept],
  )
}

/** Returns the runs of a dead worker to the queue. Called for each process whose heartbeat stopped. */
export async function reclaimRuns(transaction: Queryable, borrowerId: string): Promise<void> {
  const rows = await transaction.query(
    `UPDATE compare_runs SET ${HAND_BACK} WHERE worker_id = $1 AND status IN ('running', 'cancelled') RETURNING id`,
    [borrowerId],
  )
  const left = await transaction.query(
    'UPDATE compare_runs SET leaving_worker_id = NULL WHERE leaving_worker_id = $1 RETURNING id',
    [borrowerId],
  )
  const waiting = rows.length + left.length
  if (waiting > 0) await addJob(transaction, 'compare', { count: waiting })
}

function claimValues({ runId, workerId, number }: RunClaim): unknown[] {
  return [runId, workerId, number]
}
