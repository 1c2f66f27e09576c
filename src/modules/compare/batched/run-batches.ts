import type { Queryable } from '../../../storage/database.ts'
import { IS_UNENDED } from '../../batches/batches.ts'
import type { RunClaim } from '../cells/cell-writer.ts'

/** A batch that asks the cells of a lane. */
export interface RunBatch {
  readonly batchId: string
  readonly lanePosition: number
  /** The run was cancelled: what the batch did not ask is still to be asked. */
  readonly isWithdrawn: boolean
}

/** SQL: answers of a batch of the run are still to come, or to be collected. */
export const HAS_BATCHES = `EXISTS (
  SELECT FROM compare_run_batches AS asked WHERE asked.run_id = compare_runs.id AND asked.collected_at IS NULL)`

/** SQL: a batch of the run has not ended. */
export const HAS_UNENDED_BATCHES = `EXISTS (
  SELECT FROM compare_run_batches AS asked JOIN batches ON batches.id = asked.batch_id
  WHERE asked.run_id = compare_runs.id AND asked.collected_at IS NULL AND ${IS_UNENDED})`

/** Notes that a batch asks the cells of a lane. Throws if the run was cancelled or another worker has it. */
export async function addRunBatch(
  transaction: Queryable,
  { runId, workerId, number }: RunClaim,
  { batchId, lanePosition }: Omit<RunBatch, 'isWithdrawn'>,
): Promise<void> {
  const standing = await transaction.query(
    `SELECT FROM compare_runs WHERE id = $1 AND worker_id = $2 AND claim = $3 AND status = 'running' FOR UPDATE`,
    [runId, workerId, number],
  )
  if (standing.length === 0) throw new RunLost()
  await transaction.query(
    'INSERT INTO compare_run_batches (batch_id, run_id, lane_position) VALUES ($1, $2, $3)',
    [batchId, runId, lanePosition],
  )
}

/** The run was cancelled, or another worker has it. */
export class RunLost extends Error {
  override readonly name = 'RunLost'

  constructor() {
    super('the run was cancelled, or another worker has it')
  }
}

/** Returns the batches whose answers are not in the cells yet. */
export async function listOpenBatches(queryable: Queryable, runId: string): Promise<RunBatch[]> {
  const rows = await queryable.query<{ batch_id: string; lane_position: number; is_withdrawn: boolean }>(
    `SELECT batch_id, lane_position, is_withdrawn FROM compare_run_batches
     WHERE run_id = $1 AND collected_at IS NULL ORDER BY lane_position`,
    [runId],
  )
  return rows.map((row) => ({
    batchId: row.batch_id,
    lanePosition: row.lane_position,
    isWithdrawn: row.is_withdrawn,
  }))
}

/** Returns the ids of all batches of a run by the positions of their lanes. */
export async function listRunBatches(
  queryable: Queryable,
  runId: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await queryable.query<{ batch_id: string; lane_position: number }>(
    'SELECT batch_id, lane_position FROM compare_run_batches WHERE run_id = $1',
    [runId],
  )
  return new Map(rows.map((row) => [row.batch_id, row.lane_position]))
}

/** The run was cancelled. Returns the batches to cancel. */
export async function withdrawBatches(transaction: Queryable, runId: string): Promise<string[]> {
  const rows = await transaction.query<{ batch_id: string }>(
    `UPDATE compare_run_batches SET is_withdrawn = true
     WHERE run_id = $1 AND collected_at IS NULL RETURNING batch_id`,
    [runId],
  )
  return rows.map(({ batch_id: batchId }) => batchId)
}

/**
 * The answers of a batch are in the cells. What it was charged beside them, for answers that were cut off and asked again, is added
 * to one of its cells, so that the cost of the run is what was charged.
 */
export async function markCollected(
  transaction: Queryable,
  { runId, number }: RunClaim,
  { batchId, lanePosition }: RunBatch,
): Promise<void> {
  const rows = await transaction.query(
    `UPDATE compare_run_batches SET collected_at = now() WHERE batch_id = $1 AND collected_at IS NULL
       AND EXISTS (SELECT FROM compare_runs WHERE id = $2 AND claim = $3) RETURNING batch_id`,
    [batchId, runId, number],
  )
  if (rows.length > 0) await transaction.query(ADD_REST, [runId, batchId, lanePosition])
}

const ADD_REST = `
  WITH rest AS (
    SELECT batches.cost_nano_usd - coalesce((SELECT sum(counted_nano_usd) FROM compare_cells
      WHERE run_id = $1 AND batch_id = $2), 0)::bigint AS amount FROM batches WHERE id = $2
  ), cell AS (
    UPDATE compare_cells SET cost_nano_usd = cost_nano_usd + amount FROM rest
    WHERE run_id = $1 AND amount > 0 AND (prompt_index, repeat, lane_position) = (
      SELECT prompt_index, repeat, lane_position FROM compare_cells
      WHERE run_id = $1 AND lane_position = $3 ORDER BY batch_id = $2 DESC NULLS LAST, prompt_index, repeat LIMIT 1)
  ), lane AS (
    UPDATE compare_lanes SET cost_nano_usd = cost_nano_usd + amount FROM rest
    WHERE run_id = $1 AND position = $3 AND amount > 0
  )
  UPDATE compare_runs SET cost_nano_usd = cost_nano_usd + amount, updated_at = now() FROM rest
  WHERE id = $1 AND amount > 0`
