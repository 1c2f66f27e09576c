import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'

export const PAYMENT_KINDS = ['checkout', 'promo', 'adjustment', 'refund', 'auto_top_up'] as const
type PaymentKind = (typeof PAYMENT_KINDS)[number]

export const PAYMENT_STATUSES = [
  'pending',
  'processing',
  'completed',
  'failed',
  'expired',
  'cancelled',
  'refunded',
  'partially_refunded',
  'disputed',
  'returned',
] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** A change of an account's credit, completed or planned: a purchase, a promo code, an adjustment or a refund. */
export interface Payment {
  readonly id: string
  readonly accountId: string
  readonly kind: PaymentKind
  /** Negative if credit is deducted. */
  readonly amountNanoUsd: NanoUsd
  readonly status: PaymentStatus
  readonly refundedPaymentId: string | null
  readonly reason: string | null
  readonly receiptUrl: string | null
  readonly createdAtMs: number
  /** When the credit changed. */
  readonly completedAtMs: number | null
}

export interface PaymentRow {
  readonly id: string
  readonly account_id: string
  readonly kind: PaymentKind
  readonly amount_nano_usd: bigint
  readonly status: PaymentStatus
  readonly refunded_payment_id: string | null
  readonly reason: string | null
  readonly receipt_url: string | null
  readonly created_at: Date
  readonly completed_at: Date | null
}

export const PAYMENT_COLUMNS = `payments.id, payments.account_id, payments.kind, payments.amount_nano_usd, payments.status,
  payments.refunded_payment_id, payments.reason, payments.receipt_url, payments.created_at, payments.completed_at`

export function paymentFromRow(row: PaymentRow): Payment {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    amountNanoUsd: row.amount_nano_usd,
    status: row.status,
    refundedPaymentId: row.refunded_payment_id,
    reason: row.reason,
    receiptUrl: row.receipt_url,
    createdAtMs: row.created_at.getTime(),
    completedAtMs: row.completed_at?.getTime() ?? null,
  }
}

export interface NewPayment {
  readonly id: string
  readonly accountId: string
  readonly kind: PaymentKind
  readonly amountNanoUsd: NanoUsd
  readonly status: PaymentStatus
  readonly nowMs: number
  readonly refundedPaymentId?: string
  readonly reference?: string
  readonly reason?: string
}

/** Returns null if a payment with this reference already exists. */
export async function insertPayment(queryable: Queryable, payment: NewPayment): Promise<Payment | null> {
  const isComplete = payment.status === 'completed'
  const [row] = await queryable.query<PaymentRow>(
    `INSERT INTO payments (id, account_id, kind, amount_nano_usd, status, refunded_payment_id, reference, reason,
       created_at, completed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (reference) DO NOTHING RETURNING ${PAYMENT_COLUMNS}`,
    [
      payment.id,
      payment.accountId,
      payment.kind,
      payment.amountNanoUsd,
      payment.status,
      payment.refundedPaymentId ?? null,
      payment.reference ?? null,
      payment.reason ?? null,
      new Date(payment.nowMs),
      isComplete ? new Date(payment.nowMs) : null,
    ],
  )
  return row === undefined ? null : paymentFromRow(row)
}

/** Reads a payment; `accountId` null allows any account. Throws `not_found` also for a payment of another account. */
export async function readPayment(
  queryable: Queryable,
  paymentId: string,
  accountId: string | null,
): Promise<Payment> {
  if (!isUuid(paymentId)) throw notFound('payment')
  const [row] = await queryable.query<PaymentRow>(
    `SELECT ${PAYMENT_COLUMNS} FROM payments WHERE id = $1 AND ($2::uuid IS NULL OR account_id = $2)`,
    [paymentId, accountId],
  )
  if (row === undefined) throw notFound('payment')
  return paymentFromRow(row)
}

/** Returns payments, newest first. */
export async function listPayments(
  queryable: Queryable,
  accountId: string,
  { limit, afterId }: PageRequest,
): Promise<Page<Payment>> {
  const [rows, [count]] = await Promise.all([
    queryable.query<PaymentRow>(
      `SELECT ${PAYMENT_COLUMNS} FROM payments WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
      [accountId, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>('SELECT count(*) AS total FROM payments WHERE account_id = $1', [
      accountId,
    ]),
  ])
  return {
    items: rows.slice(0, limit).map(paymentFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}
