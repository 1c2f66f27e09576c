import type { Database, Queryable } from '../../../storage/database.ts'
import { interpretCharge } from '../../inference/inference.ts'
import { findCharges } from '../../ledger/ledger.ts'
import type { Batch, BatchClaim } from '../batch.ts'

interface UsedLine {
  readonly number: number
  readonly request_id: string
  readonly counted_nano_usd: bigint
}

const LOOKED_UP_AT_ONCE = 1_000

/**
 * Takes over the lines that were running when the last worker left the batch, and adds what the ledger has charged under their request
 * ids. An id with a complete charged answer is used again, so that the line is not charged twice; one whose answer was cut off is
 * replaced.
 */
export async function adoptLines(database: Database, batch: Batch, claim: BatchClaim): Promise<void> {
  const used = await database.query<UsedLine>(
    `SELECT number, request_id, counted_nano_usd FROM batch_lines
     WHERE batch_id = $1 AND (status = 'running' OR (status = 'pending' AND request_id IS NOT NULL)) AND request_id IS NOT NULL
     ORDER BY number`,
    [claim.batchId],
  )
  for (let start = 0; start < used.length; start += LOOKED_UP_AT_ONCE) {
    const some = used.slice(start, start + LOOKED_UP_AT_ONCE)
    const charges = await findCharges(
      database,
      batch.accountId,
      some.map(({ request_id: requestId }) => requestId),
    )
    const counted = some.map((line) => ({
      ...line,
      ...interpretCharge(charges.get(line.request_id) ?? null, line.counted_nano_usd),
    }))
    await database.transaction(async (transaction) => {
      const [standing] = await transaction.query(
        'SELECT FROM batches WHERE id = $1 AND worker_id = $2 AND claim = $3 FOR UPDATE',
        [claim.batchId, claim.workerId, claim.number],
      )
      if (standing !== undefined) await adopt(transaction, claim, counted)
    })
  }
}

async function adopt(
  transaction: Queryable,
  claim: BatchClaim,
  lines: readonly (UsedLine & ReturnType<typeof interpretCharge>)[],
): Promise<void> {
  await transaction.query(
    `WITH adopted AS (
       UPDATE batch_lines AS line SET status = 'pending', request_id = CASE WHEN is_spent THEN NULL ELSE line.request_id END,
         counted_nano_usd = CASE WHEN is_spent THEN 0 ELSE line.counted_nano_usd + added END
       FROM unnest($2::int[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])
         AS given (number, request_id, counted, added, is_spent)
       WHERE line.batch_id = $1 AND line.number = given.number AND line.request_id = given.request_id
         AND line.counted_nano_usd = counted AND line.status IN ('running', 'pending')
       RETURNING added
     )
     UPDATE batches SET cost_nano_usd = cost_nano_usd + (SELECT sum(added) FROM adopted)
     WHERE id = $1 AND (SELECT sum(added) FROM adopted) IS NOT NULL`,
    [
      claim.batchId,
      lines.map(({ number }) => number),
      lines.map(({ request_id: requestId }) => requestId),
      lines.map(({ counted_nano_usd: counted }) => String(counted)),
      lines.map(({ added }) => String(added)),
      lines.map(({ isSpent }) => isSpent),
    ],
  )
}
