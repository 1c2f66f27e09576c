import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { addJob } from '../../storage/job-queue.ts'
import { readRun } from './read-runs.ts'
import type { Run } from './run.ts'

/** Stops what runs and keeps what is done. One that was cancelled before stays as it is. */
export async function cancelRun(database: Database, accountId: string, runId: string): Promise<Run> {
  if (!isUuid(runId)) throw notFound('run')
  const rows = await database.query(
    `UPDATE compare_runs SET status = 'cancelled', worker_id = NULL, completed_at = now(), updated_at = now()
     WHERE id = $1 AND account_id = $2 AND status IN ('queued', 'running') RETURNING id`,
    [runId, accountId],
  )
  const run = await readRun(database, accountId, runId)
  if (rows.length === 0 && run.status !== 'cancelled')
    throw new AppError('conflict', `The run is ${run.status} and cannot be cancelled any more.`)
  return run
}

export interface ResumeChanges {
  /** In the place of the one it had. */
  readonly budgetNanoUsd?: NanoUsd | undefined
}

/** What failed or was never asked is asked again; what is done stays. */
export function resumeRun(
  database: Database,
  accountId: string,
  runId: string,
  { budgetNanoUsd }: ResumeChanges,
): Promise<Run> {
  if (!isUuid(runId)) throw notFound('run')
  return database.transaction(async (transaction) => {
    await transaction.query('SELECT FROM compare_runs WHERE id = $1 AND account_id = $2 FOR UPDATE', [
      runId,
      accountId,
    ])
    const run = await readRun(transaction, accountId, runId)
    requireResumable(run, budgetNanoUsd ?? run.budgetNanoUsd)
    await transaction.query(FORGET_FAILED, [runId])
    await transaction.query('UPDATE compare_lanes SET failed = 0 WHERE run_id = $1', [runId])
    await transaction.query(
      `UPDATE compare_runs SET status = 'queued', cells_failed = 0, completed_at = NULL, error_code = NULL,
         error_message = NULL, budget_nano_usd = coalesce($2, budget_nano_usd), updated_at = now() WHERE id = $1`,
      [runId, budgetNanoUsd ?? null],
    )
    await addJob(transaction, 'compare')
    return readRun(transaction, accountId, runId)
  })
}

// The id stays: an answer may have been charged under it. Who goes on with the run asks the ledger, and only then drops it.
const FORGET_FAILED = `
  UPDATE compare_cells SET status = 'pending', error_code = NULL, error_message = NULL, completed_at = NULL
  WHERE run_id = $1 AND status = 'failed'`

function requireResumable(run: Run, budgetNanoUsd: NanoUsd | null): void {
  const { status } = run
  const refuse = (message: string) => new AppError('run_not_resumable', message)
  if (status === 'queued' || status === 'running') throw refuse(`The run is ${status} already.`)
  // A judge may not be through with it, although all answers are there.
  const isUnjudged = run.judge !== null && status !== 'completed'
  if (run.cellsDone === run.cellsTotal && !isUnjudged) throw refuse('Every cell of the run is done.')
  if (budgetNanoUsd !== null && run.costNanoUsd >= budgetNanoUsd)
    throw refuse('The budget of the run is spent. Send a larger budget_usd to go on.')
}

/** Saves the run from being removed when it is old. */
export async function pinRun(queryable: Queryable, accountId: string, runId: string): Promise<Run> {
  if (!isUuid(runId)) throw notFound('run')
  await queryable.query(
    'UPDATE compare_runs SET is_pinned = true, updated_at = now() WHERE id = $1 AND account_id = $2',
    [runId, accountId],
  )
  return readRun(queryable, accountId, runId)
}
