import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange, type ChangeActor } from '../audit/audit.ts'
import type { Payment } from './payment-record.ts'
import { completeRefundRequest, type OperatorKey } from './refund-request-record.ts'

interface MadeRefund {
  readonly payment: Pick<Payment, 'id' | 'accountId'>
  /** Of the refund that was made. Undefined if the payment provider has not reported it yet. */
  readonly reference: string | undefined
  readonly amountNanoUsd: NanoUsd
  readonly reason: string | null
  readonly operator: ChangeActor
  readonly idempotencyKey: OperatorKey | null
}

/**
 * Writes who refunded and why, once for each refund: a request that is repeated, after an answer was lost or at the same time, finds that
 * it is written.
 */
export function recordRefund(database: Database, refund: MadeRefund): Promise<void> {
  const { payment, reference, amountNanoUsd, reason, operator, idempotencyKey } = refund
  return database.transaction(async (transaction) => {
    await transaction.query('SELECT FROM payments WHERE id = $1 FOR UPDATE', [payment.id])
    const refundId = reference === undefined ? null : await findRefund(transaction, reference)
    const written = await transaction.query(IS_WRITTEN, [payment.accountId, payment.id, refundId])
    if (written.length === 0) {
      if (reason !== null && refundId !== null)
        await transaction.query('UPDATE payments SET reason = $2 WHERE id = $1', [refundId, reason])
      await recordChange(transaction, {
        actor: operator,
        accountId: payment.accountId,
        type: 'credit.removed',
        projectId: null,
        resourceId: payment.id,
        details: {
          data: {
            amount_usd: -usdFromNanoUsd(amountNanoUsd),
            is_refund: true,
            ...(refundId !== null && { refund_id: refundId }),
            ...(reason !== null && { reason }),
          },
        },
      })
    }
    if (idempotencyKey !== null) await completeRefundRequest(transaction, idempotencyKey)
  })
}

async function findRefund(queryable: Queryable, reference: string): Promise<string | null> {
  const [row] = await queryable.query<{ id: string }>('SELECT id FROM payments WHERE reference = $1', [
    reference,
  ])
  return row?.id ?? null
}

const IS_WRITTEN = `SELECT FROM account_changes WHERE account_id = $1 AND resource_id = $2 AND type = 'credit.removed'
  AND details -> 'data' ->> 'refund_id' = $3 LIMIT 1`
