import type { Queryable } from '../../../storage/database.ts'
import { batchIdOf } from '../../../wires/openai-files/batch-id.ts'
import { queueNoticeWebhook } from '../../tasks/tasks.ts'

/** SQL: what `tellEnd` needs of a batch that has ended. */
export const ENDED_COLUMNS = 'id, account_id, status, webhook_url, clock_timestamp() AS ended_at'

export interface EndedRow {
  readonly id: string
  readonly account_id: string
  readonly status: string
  readonly webhook_url: string | null
  readonly ended_at: Date
}

/**
 * Queues the webhook of a batch, in the transaction that ends it, so that it is sent if and only if the batch has ended. The notice has the
 * id of the batch, and goes with it.
 */
export async function tellEnd(transaction: Queryable, row: EndedRow): Promise<void> {
  if (row.webhook_url === null) return
  const id = batchIdOf(row.id)
  const text = `The batch ${id} is ${row.status}.`
  await transaction.query(
    `INSERT INTO account_notices (id, account_id, type, data, subject, text, created_at)
     VALUES ($1, $2, $3, $4::jsonb, $5, $5, $6)`,
    [row.id, row.account_id, `batch.${row.status}`, JSON.stringify({ id }), text, row.ended_at],
  )
  await queueNoticeWebhook(transaction, {
    accountId: row.account_id,
    accountNoticeId: row.id,
    url: row.webhook_url,
  })
}
