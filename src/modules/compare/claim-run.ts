import { toStorable } from '../../kernel/storable-text.ts'
import { FROM_LIVING_BORROWER } from '../../storage/borrowing/living-borrower.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { addJob } from '../../storage/job-queue.ts'
import type { RunClaim } from './cell-writer.ts'
import { readRun } from './read-runs.ts'
import type { Run, RunError } from './run.ts'

export interface ClaimedRun {
  readonly run: Run
  readonly claim: RunClaim
}

/** Runs of one account at once, everywhere together: what another account asks for does not wait behind them. */
const RUNS_OF_ACCOUNT_MAX = 2
/** One claim at a time, so that the limit is kept exactly. Any constant will do, as long as all use the same. */
const CLAIM_LOCK_ID = 7_275_929_003

/** Takes the run that is next: whose account has the fewest running, and then the oldest. Null when none may be taken. */
export function claimRun(database: Database, workerId: string): Promise<ClaimedRun | null> {
  return database.transaction(async (transaction) => {
    const alive = await transaction.query(BEGIN_CLAIM, [workerId, CLAIM_LOCK_ID])
    if (alive.length === 0) return null
    const [row] = await transaction.query<{ id: string; account_id: string; claim: number }>(CLAIM, [
      workerId,
      RUNS_OF_ACCOUNT_MAX,
    ])
    if (row === undefined) return null
    const run = await readRun(transaction, row.account_id, row.id)
    return { run, claim: { runId: row.id, workerId, number: row.claim } }
  })
}

const BEGIN_CLAIM = `SELECT pg_advisory_xact_lock($2) ${FROM_LIVING_BORROWER}`

// Of each account only its oldest stands in line: the next one is found when that has been taken.
const CLAIM = `
  WITH first_of_account AS (
    SELECT DISTINCT ON (account_id) id, account_id FROM compare_runs WHERE status = 'queued' ORDER BY account_id, id
  ), in_turn AS (
    SELECT id, (SELECT count(*) FROM compare_runs AS other
      WHERE other.account_id = first_of_account.account_id AND other.status = 'running') AS running FROM first_of_account
  )
  UPDATE compare_runs SET status = 'running', worker_id = $1, claim = claim + 1, updated_at = now(),
    started_at = coalesce(started_at, now())
  WHERE status = 'queued' AND id = (SELECT id FROM in_turn WHERE running < $2 ORDER BY running, id LIMIT 1)
  RETURNING id, account_id, claim`

const IS_STANDING = `id = $1 AND worker_id = $2 AND claim = $3 AND status = 'running'`

/** Which of these claims still stand: the others were cancelled, or are another's now. */
export async function findStandingRuns(
  queryable: Queryable,
  claims: readonly RunClaim[],
): Promise<ReadonlySet<string>> {
  const rows = await queryable.query<{ id: string }>(
    `SELECT run.id FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS held (id, worker_id, claim)
     JOIN compare_runs AS run USING (id, worker_id, claim) WHERE run.status = 'running'`,
    [
      claims.map(({ runId }) => runId),
      claims.map(({ workerId }) => workerId),
      claims.map(({ number }) => number),
    ],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Its end. With no error it has completed, unless nothing of it did. */
export async function endRun(database: Database, claim: RunClaim, error: RunError | null): Promise<void> {
  await database.transaction(async (transaction) => {
    const rows = await transaction.query(END, [
      ...claimValues(claim),
      error?.code ?? null,
      error === null ? null : toStorable(error.message),
    ])
    // One less is running, and another may have waited for that.
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

/** By a worker that stops: another goes on. */
export async function handBackRun(database: Database, claim: RunClaim): Promise<void> {
  await database.transaction(async (transaction) => {
    const rows = await transaction.query(
      `UPDATE compare_runs SET status = 'queued', worker_id = NULL, updated_at = now() WHERE ${IS_STANDING} RETURNING id`,
      claimValues(claim),
    )
    if (rows.length > 0) await addJob(transaction, 'compare')
  })
}

/**
 * Runs that this worker was said to work on and does not: their end could not be written. Those that were claimed a moment ago are not
 * meant.
 */
export async function handBackStrays(
  database: Database,
  workerId: string,
  kept: readonly string[],
): Promise<void> {
  await database.query(
    `UPDATE compare_runs SET status = 'queued', worker_id = NULL, updated_at = now()
     WHERE worker_id = $1 AND status = 'running' AND id <> ALL ($2::uuid[]) AND updated_at < now() - interval '1 minute'`,
    [workerId, kept],
  )
}

/** Runs of a worker that is gone go back into the queue. Called for every process that stops saying it is alive. */
export async function reclaimRuns(transaction: Queryable, borrowerId: string): Promise<void> {
  const rows = await transaction.query(
    `UPDATE compare_runs SET status = 'queued', worker_id = NULL, updated_at = now()
     WHERE worker_id = $1 AND status = 'running' RETURNING id`,
    [borrowerId],
  )
  if (rows.length > 0) await addJob(transaction, 'compare', { count: rows.length })
}

function claimValues({ runId, workerId, number }: RunClaim): unknown[] {
  return [runId, workerId, number]
}
