import type { NanoUsd } from '../../../kernel/money.ts'
import type { Database } from '../../../storage/database.ts'
import { interpretCharge } from '../../inference/inference.ts'
import { findCharges, type FoundCharge } from '../../ledger/ledger.ts'
import type { CellWriter, RunClaim } from './cell-writer.ts'
import type { Run } from '../runs/run.ts'

interface AdoptOrder {
  readonly run: Run
  readonly claim: RunClaim
  readonly writer: CellWriter
}

interface UsedCell {
  readonly prompt_index: number
  readonly repeat: number
  readonly lane_position: number
  readonly request_id: string
  readonly counted_nano_usd: bigint
}

const LOOKED_UP_AT_ONCE = 1_000

/**
 * Takes over cells that have been asked but have no answer: cells that were running when the previous worker died, and failed
 * cells of a resumed run. Adds what the ledger has charged under their request ids. An id with a complete charged answer is reused,
 * so that it is not charged again. An id whose answer was cut off is replaced. Returns what was added.
 */
export async function adoptCells(database: Database, { run, claim, writer }: AdoptOrder): Promise<NanoUsd> {
  const used = await database.query<UsedCell>(READ_USED, [run.id])
  const charges = await findAll(
    database,
    run.accountId,
    used.map(({ request_id: requestId }) => requestId),
  )
  const unsettled = used.flatMap((row) => {
    const { added, isSpent } = interpretCharge(charges.get(row.request_id) ?? null, row.counted_nano_usd)
    return added > 0n || isSpent ? [{ row, added, isSpent }] : []
  })
  await database.query(ADOPT, [run.id, claim.number, unsettled.map(({ row }) => row.request_id)])
  await Promise.all(
    unsettled.map(({ row, added, isSpent }) =>
      writer.end({
        key: { promptIndex: row.prompt_index, repeat: row.repeat, lanePosition: row.lane_position },
        status: 'pending',
        chargedNanoUsd: added,
        isIdSpent: isSpent,
      }),
    ),
  )
  return unsettled.reduce((sum, { added }) => sum + added, 0n)
}

async function findAll(
  database: Database,
  accountId: string,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, FoundCharge>> {
  const found = new Map<string, FoundCharge>()
  for (let start = 0; start < requestIds.length; start += LOOKED_UP_AT_ONCE) {
    const some = requestIds.slice(start, start + LOOKED_UP_AT_ONCE)
    for (const [id, charge] of await findCharges(database, accountId, some)) found.set(id, charge)
  }
  return found
}

const READ_USED = `
  SELECT prompt_index, repeat, lane_position, request_id, counted_nano_usd FROM compare_cells
  WHERE run_id = $1 AND (status = 'running' OR (status = 'pending' AND request_id IS NOT NULL))`

// Keep the claim on cells that still need a write. The other cells return to the queue.
const ADOPT = `
  UPDATE compare_cells SET claim = $2, status = CASE WHEN request_id = ANY ($3::text[]) THEN 'running' ELSE 'pending' END
  WHERE run_id = $1 AND (status = 'running' OR (status = 'pending' AND request_id = ANY ($3::text[])))
    AND EXISTS (SELECT FROM compare_runs AS run WHERE run.id = $1 AND run.claim = $2)`
