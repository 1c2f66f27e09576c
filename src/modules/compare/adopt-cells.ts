import type { Database } from '../../storage/database.ts'
import { findCharges } from '../ledger/ledger.ts'
import type { CellWriter, RunClaim } from './cell-writer.ts'
import type { Run } from './run.ts'

interface AdoptOrder {
  readonly run: Run
  readonly claim: RunClaim
  readonly writer: CellWriter
}

/**
 * Takes over the cells that were being asked when the last worker of the run was gone. What broke off was charged for what
 * was delivered and is asked under another id; anything else is asked under its own, which is charged once.
 */
export async function adoptCells(database: Database, { run, claim, writer }: AdoptOrder): Promise<void> {
  const rows = await database.query<{
    prompt_index: number
    repeat: number
    lane_position: number
    request_id: string
  }>(
    `UPDATE compare_cells SET claim = $2 WHERE run_id = $1 AND status = 'running'
     RETURNING prompt_index, repeat, lane_position, request_id`,
    [run.id, claim.number],
  )
  const charges = await findCharges(
    database,
    run.accountId,
    rows.map(({ request_id: requestId }) => requestId),
  )
  await Promise.all(
    rows.map((row) => {
      const charge = charges.get(row.request_id)
      const isBroken = charge !== undefined && charge.outcome !== 'completed'
      return writer.end({
        key: { promptIndex: row.prompt_index, repeat: row.repeat, lanePosition: row.lane_position },
        status: 'pending',
        chargedNanoUsd: isBroken ? charge.costNanoUsd : 0n,
      })
    }),
  )
}
