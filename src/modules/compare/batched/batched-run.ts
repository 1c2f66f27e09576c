import { AppError } from '../../../kernel/app-error.ts'
import type { Database } from '../../../storage/database.ts'
import { hasEnded, type Batches } from '../../batches/batches.ts'
import type { Caller } from '../../keys/keys.ts'
import { REFUSAL_CODES } from '../../ledger/ledger.ts'
import { budgetReached, BUDGET_REACHED_CODE } from '../runs/budget-reached.ts'
import type { Lane, RunError } from '../runs/run.ts'
import { collectBatch, type CollectOptions } from './collect-batch.ts'
import { createLaneBatch, type LaneBatchParts } from './lane-batch.ts'
import { listOpenBatches, markCollected, RunLost } from './run-batches.ts'

export interface BatchedRunOptions extends Omit<CollectOptions, 'batches' | 'database'> {
  readonly database: Database
  readonly batches: Pick<Batches, 'create' | 'readMany' | 'readResults'>
  readonly files: LaneBatchParts['files']
  /** Reads the caller again. Throws if the key may not be used any more. */
  readonly readCaller: () => Promise<Caller>
}

/** What is left to do: nothing before the batches have ended, or nothing at all, with the reason why not all was asked. */
type Standing = { readonly isWaiting: true } | { readonly isWaiting: false; readonly halt: RunError | null }

/** Collects the answers of the batches of a run that have ended, and makes batches of the cells that are still to be asked. */
export async function advanceBatchedRun(options: BatchedRunOptions): Promise<Standing> {
  const { database, run, isStopped } = options
  await collectEnded(options)
  if (isStopped() || run.status === 'cancelled') return { isWaiting: true }
  const halt = (await findHalt(options)) ?? (await makeBatches(options))
  // What other batches answer is charged, and is collected before the run ends.
  const open = await listOpenBatches(database, run.id)
  return open.length > 0 ? { isWaiting: true } : { isWaiting: false, halt }
}

async function collectEnded(options: BatchedRunOptions): Promise<void> {
  const { database, batches, run, claim } = options
  const open = await listOpenBatches(database, run.id)
  const found = await batches.readMany(
    run,
    open.map(({ batchId }) => batchId),
  )
  for (const asked of open) {
    const batch = found.find(({ id }) => id === asked.batchId)
    if (batch !== undefined && !hasEnded(batch)) continue
    if (!(await collectBatch(asked, batch, options))) return
    await database.transaction((transaction) => markCollected(transaction, claim, asked))
  }
}

/** Why nothing more is asked: credit or a budget was used up. Answers that were not asked can be, when the run is resumed. */
async function findHalt({ database, run }: BatchedRunOptions): Promise<RunError | null> {
  const [failed] = await database.query<{ error_code: string; error_message: string | null }>(
    `SELECT error_code, error_message FROM compare_cells
     WHERE run_id = $1 AND status = 'failed' AND error_code = ANY ($2::text[]) ORDER BY prompt_index, repeat LIMIT 1`,
    [run.id, [...REFUSAL_CODES, BUDGET_REACHED_CODE]],
  )
  if (failed === undefined) return null
  if (failed.error_code === BUDGET_REACHED_CODE) return budgetReached(database, run)
  return { code: failed.error_code, message: failed.error_message ?? '' }
}

/** Returns why a batch could not be made. */
async function makeBatches(options: BatchedRunOptions): Promise<RunError | null> {
  const { database, run, claim, isStopped } = options
  const lanes = await listLanesToAsk(options)
  if (lanes.length === 0) return null
  const share = await shareBudget(options)
  if (share !== null && share <= 0n) return budgetReached(database, run)
  try {
    for (const lane of lanes) {
      if (isStopped()) return null
      await createLaneBatch(options, {
        run,
        claim,
        lane,
        caller: await options.readCaller(),
        lineNanoUsdMax: share,
      })
    }
    return null
  } catch (error) {
    if (error instanceof RunLost) return null
    if (!(error instanceof AppError)) throw error
    return { code: error.shownCode, message: error.message }
  }
}

/** The lanes with cells that no batch asks. */
async function listLanesToAsk({ database, run }: BatchedRunOptions): Promise<Lane[]> {
  const rows = await database.query<{ lane_position: number }>(
    `SELECT DISTINCT lane_position FROM compare_cells WHERE run_id = $1 AND status = 'pending' AND lane_position NOT IN (
       SELECT lane_position FROM compare_run_batches WHERE run_id = $1 AND collected_at IS NULL)`,
    [run.id],
  )
  const positions = new Set(rows.map(({ lane_position: position }) => position))
  return run.lanes.filter(({ position }) => positions.has(position))
}

/** All answers may cost the same share of what is left, so that together they keep the budget. Null without a budget. */
async function shareBudget({ database, run }: BatchedRunOptions): Promise<bigint | null> {
  const [row] = await database.query<{ cells: bigint; budget: bigint | null; cost: bigint }>(
    `SELECT budget_nano_usd AS budget, cost_nano_usd AS cost,
       (SELECT count(*) FROM compare_cells WHERE run_id = $1 AND status = 'pending') AS cells FROM compare_runs WHERE id = $1`,
    [run.id],
  )
  if (row === undefined || row.budget === null) return null
  return (row.budget - row.cost) / (row.cells > 0n ? row.cells : 1n)
}
