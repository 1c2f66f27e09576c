import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'

/** An operator's idempotency key for a movement of money. It never expires. */
export interface OperatorKey {
  readonly operatorAccountId: string
  readonly key: string
}

/** A refund that was requested with an idempotency key. */
export interface RefundRequestRecord {
  readonly paymentId: string
  readonly amountNanoUsd: NanoUsd
  readonly isCompleted: boolean
  readonly ageMs: number
}

export async function findRefundRequest(
  queryable: Queryable,
  { operatorAccountId, key }: OperatorKey,
): Promise<RefundRequestRecord | null> {
  const [row] = await queryable.query<{
    payment_id: string
    amount_nano_usd: bigint
    is_completed: boolean
    age_ms: number
  }>(
    `SELECT payment_id, amount_nano_usd, completed_at IS NOT NULL AS is_completed,
       (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms
     FROM refund_requests WHERE operator_account_id = $1 AND idempotency_key = $2`,
    [operatorAccountId, key],
  )
  if (row === undefined) return null
  return {
    paymentId: row.payment_id,
    amountNanoUsd: row.amount_nano_usd,
    isCompleted: row.is_completed,
    ageMs: row.age_ms,
  }
}

/** Returns false if a concurrent request was first. */
export async function insertRefundRequest(
  queryable: Queryable,
  { operatorAccountId, key }: OperatorKey,
  { paymentId, amountNanoUsd }: Pick<RefundRequestRecord, 'paymentId' | 'amountNanoUsd'>,
): Promise<boolean> {
  const rows = await queryable.query(
    `INSERT INTO refund_requests (operator_account_id, idempotency_key, payment_id, amount_nano_usd)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING payment_id`,
    [operatorAccountId, key, paymentId, amountNanoUsd],
  )
  return rows.length > 0
}

export async function completeRefundRequest(
  queryable: Queryable,
  { operatorAccountId, key }: OperatorKey,
): Promise<void> {
  await queryable.query(
    `UPDATE refund_requests SET completed_at = now()
     WHERE operator_account_id = $1 AND idempotency_key = $2 AND completed_at IS NULL`,
    [operatorAccountId, key],
  )
}
