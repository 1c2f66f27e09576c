import { AppError, notFound } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import { idsOf, isWithin, type Place } from '../../../storage/place.ts'
import type { Batches } from '../../batches/batches.ts'
import { withdrawBatches } from '../batched/run-batches.ts'
import { readRun } from './read-runs.ts'
import type { Run } from './run.ts'

/**
 * Stops the running cells and keeps the completed ones. The worker reads what their vendors bill to its usage and then leaves the
 * run. A cancelled run stays unchanged. Its batches are cancelled with it, and what they answered is collected when they have ended.
 */
export async function cancelRun(
  database: Database,
  batches: Pick<Batches, 'cancelWithin' | 'tellCancelled'>,
  { place, runId }: { readonly place: Place; readonly runId: string },
): Promise<Run> {
  if (!isUuid(runId)) throw notFound('run')
  const cancelled = await database.transaction(async (transaction) => {
    const rows = await transaction.query(CANCEL(place), [runId, idsOf(place)])
    if (rows.length === 0) return null
    const ids = await withdrawBatches(transaction, runId)
    if (ids.length > 0) await batches.cancelWithin(transaction, ids)
    return ids
  })
  batches.tellCancelled(cancelled ?? [])
  const run = await readRun(database, place, runId)
  if (cancelled === null && run.status !== 'cancelled')
    throw new AppError('conflict', `The run is ${run.status} and cannot be cancelled any more.`)
  return run
}

const CANCEL = (place: Place): string =>
  `UPDATE compare_runs SET status = 'cancelled', worker_id = NULL, awaits_batches = is_batch,
     leaving_worker_id = coalesce(worker_id, leaving_worker_id), completed_at = now(), updated_at = now()
   WHERE id = $1 AND ${isWithin(place, '$2')} AND status IN ('queued', 'running') RETURNING id`

export interface ResumeChanges {
  /** Replaces the previous budget. */
  readonly budgetNanoUsd?: NanoUsd | undefined
}

/** Asks failed and unasked cells again, and keeps the completed ones. */
export function resumeRun(
  database: Database,
  place: Place,
  runId: string,
  { budgetNanoUsd }: ResumeChanges,
): Promise<Run> {
  if (!isUuid(runId)) throw notFound('run')
  return database.transaction(async (transaction) => {
    await transaction.query(
      `SELECT FROM compare_runs WHERE id = $1 AND ${isWithin(place, '$2')} FOR UPDATE`,
      [runId, idsOf(place)],
    )
    const run = await readRun(transaction, place, runId)
    requireResumable(run, budgetNanoUsd ?? run.budgetNanoUsd)
    await transaction.query(FORGET_FAILED, [runId])
    await transaction.query('UPDATE compare_lanes SET failed = 0 WHERE run_id = $1', [runId])
    await transaction.query(
      `UPDATE compare_runs SET status = 'queued', cells_failed = 0, completed_at = NULL, error_code = NULL,
         error_message = NULL, budget_nano_usd = coalesce($2, budget_nano_usd), updated_at = now(),
         leaving_worker_id = coalesce(worker_id, leaving_worker_id), worker_id = NULL WHERE id = $1`,
      [runId, budgetNanoUsd ?? null],
    )
    await addJob(transaction, 'compare')
    return readRun(transaction, place, runId)
  })
}

// Keep the request id: an answer may have been charged under it. The worker checks the ledger before it replaces the id.
const FORGET_FAILED = `
  UPDATE compare_cells SET status = 'pending', error_code = NULL, error_message = NULL, completed_at = NULL
  WHERE run_id = $1 AND status = 'failed'`

function requireResumable(run: Run, budgetNanoUsd: NanoUsd | null): void {
  const { status } = run
  const refuse = (message: string) => new AppError('run_not_resumable', message)
  if (status === 'queued' || status === 'running') throw refuse(`The run is ${status} already.`)
  // The judge may still have work although all answers exist.
  const isUnjudged = run.judge !== null && status !== 'completed'
  if (run.cellsDone === run.cellsTotal && !isUnjudged) throw refuse('Every cell of the run is done.')
  if (budgetNanoUsd !== null && run.costNanoUsd >= budgetNanoUsd)
    throw refuse('The budget of the run is spent. Send a larger budget_usd to go on.')
}

/** Keeps the run beyond the retention period. */
export async function pinRun(queryable: Queryable, place: Place, runId: string): Promise<Run> {
  if (!isUuid(runId)) throw notFound('run')
  await queryable.query(
    `UPDATE compare_runs SET is_pinned = true, updated_at = now() WHERE id = $1 AND ${isWithin(place, '$2')}`,
    [runId, idsOf(place)],
  )
  return readRun(queryable, place, runId)
}
