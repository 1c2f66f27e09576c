import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange, type ChangeActor } from '../audit/audit.ts'
import type { CreditClass, Ledger } from '../ledger/ledger.ts'
import { inviteRepeating } from './invite-repeating.ts'
import {
  insertPayment,
  PAYMENT_COLUMNS,
  paymentFromRow,
  type Payment,
  type PaymentRow,
} from './payment-record.ts'
import type { OperatorKey } from './refund-request-record.ts'

export interface Adjustment {
  readonly accountId: string
  /** Negative to deduct. */
  readonly amountNanoUsd: NanoUsd
  readonly reason: string
  /** The class of granted credit. */
  readonly class: CreditClass
  readonly expiresAtMs: number | null
  readonly idempotencyKey: OperatorKey | null
  readonly operator: ChangeActor
}

interface AdjustContext {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'grant' | 'deduct' | 'recall' | 'announceChange'>
}

/** Grants or deducts credit on behalf of an operator. */
export function adjustCredit(context: AdjustContext, adjustment: Adjustment): Promise<Payment> {
  return inviteRepeating(adjustment.idempotencyKey, () => adjustOnce(context, adjustment))
}

async function adjustOnce(context: AdjustContext, adjustment: Adjustment): Promise<Payment> {
  const { database, clock, ledger } = context
  const { accountId, amountNanoUsd, idempotencyKey } = adjustment
  const nowMs = clock.nowMs()
  requireSensible(adjustment, nowMs)
  if (amountNanoUsd < 0n) await ledger.recall(accountId)
  const reference =
    idempotencyKey === null ? null : `adjustment:${idempotencyKey.operatorAccountId}:${idempotencyKey.key}`
  const { payment, isNew } = await database.transaction(async (transaction) => {
    const inserted = await insertPayment(transaction, {
      id: createId(nowMs),
      accountId,
      kind: 'adjustment',
      amountNanoUsd,
      status: 'completed',
      reason: adjustment.reason,
      nowMs,
      ...(reference === null ? {} : { reference }),
    })
    if (inserted === null) {
      return { payment: await readEarlier(transaction, reference ?? '', adjustment), isNew: false }
    }
    await moveCredit(transaction, ledger, inserted.id, adjustment)
    await recordAdjustment(transaction, inserted.id, adjustment)
    return { payment: inserted, isNew: true }
  })
  if (isNew) await ledger.announceChange(accountId)
  return payment
}

function requireSensible({ amountNanoUsd, expiresAtMs }: Adjustment, nowMs: number): void {
  if (amountNanoUsd === 0n) throw invalidValue('amount_usd', 'amount_usd must not be zero.')
  if (expiresAtMs === null) return
  if (amountNanoUsd < 0n) throw invalidValue('expires_at', 'A deduction does not expire.')
  if (expiresAtMs <= nowMs) throw invalidValue('expires_at', 'expires_at must be in the future.')
}

async function moveCredit(
  transaction: Queryable,
  ledger: AdjustContext['ledger'],
  paymentId: string,
  { accountId, amountNanoUsd, reason, class: creditClass, expiresAtMs }: Adjustment,
): Promise<void> {
  const order = { key: `adjustment:${paymentId}`, accountId, reason }
  if (amountNanoUsd < 0n) await ledger.deduct(transaction, { ...order, amountNanoUsd: -amountNanoUsd })
  else {
    await ledger.grant(transaction, {
      ...order,
      amountNanoUsd,
      class: creditClass,
      book: 'adjustment',
      expiresAtMs,
    })
  }
}

function recordAdjustment(
  transaction: Queryable,
  paymentId: string,
  { operator, accountId, amountNanoUsd, class: creditClass }: Adjustment,
): Promise<void> {
  const isGrant = amountNanoUsd > 0n
  return recordChange(transaction, {
    actor: operator,
    accountId,
    type: isGrant ? 'credit.added' : 'credit.removed',
    projectId: null,
    resourceId: paymentId,
    details: { data: { amount_usd: usdFromNanoUsd(amountNanoUsd), ...(isGrant && { class: creditClass }) } },
  })
}

async function readEarlier(
  transaction: Queryable,
  reference: string,
  { accountId, amountNanoUsd }: Adjustment,
): Promise<Payment> {
  const [row] = await transaction.query<PaymentRow>(
    `SELECT ${PAYMENT_COLUMNS} FROM payments WHERE reference = $1`,
    [reference],
  )
  if (row === undefined) throw new Error(`payment ${reference} vanished`)
  const earlier = paymentFromRow(row)
  if (earlier.accountId === accountId && earlier.amountNanoUsd === amountNanoUsd) return earlier
  throw new AppError('idempotency_key_reused', 'This Idempotency-Key was used for another adjustment.')
}
