import { firstIdAt } from '../../../kernel/identifiers.ts'
import type { Database } from '../../../storage/database.ts'
import { forgetHolds } from '../../ledger/ledger.ts'
import { holdKeyOf } from '../new-task.ts'

const BATCH_ROWS = 500
const BATCHES_MAX = 20

/**
 * Deletes tasks from before this time that have ended and whose results were swept, with their webhooks and holds. What they cost stays in
 * the ledger. A task whose response is still stored is kept for it. Any process does this for all.
 */
export async function forgetTasks(database: Database, keptSinceMs: number): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const forgotten = await database.transaction(async (transaction) => {
      const rows = await transaction.query<{ id: string }>(FORGET, [firstIdAt(keptSinceMs), BATCH_ROWS])
      await forgetHolds(
        transaction,
        rows.map(({ id }) => holdKeyOf(id)),
      )
      return rows.length
    })
    if (forgotten < BATCH_ROWS) return
  }
}

const FORGET = `
  DELETE FROM tasks WHERE id IN (
    SELECT id FROM tasks WHERE id < $1 AND completed_at IS NOT NULL AND work = 'null'::jsonb AND NOT EXISTS (
      SELECT FROM responses WHERE responses.account_id = tasks.account_id AND responses.id = 'resp_' || substr(tasks.request_id, 5))
    ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING id`
