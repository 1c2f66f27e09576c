import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { PaymentReport, Reversal } from '../../payments/payment-provider.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { noteCharged, switchOffAfterReversal } from './auto-top-up/end-charge.ts'
import type { NoticeContext } from './auto-top-up/write-notice.ts'
import { nanoUsdFromCents } from './cents.ts'
import { lockCheckout, writeProviderIds, type CheckoutRecord } from './checkout-record.ts'
import { insertPayment, type Payment, type PaymentStatus } from './payment-record.ts'

export interface ReportContext extends NoticeContext {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'grant' | 'reverse' | 'recall' | 'announceChange'>
}

/**
 * The webhook event. It is stored in the transaction that acts on it, so that no event counts as processed without its credit.
 */
export interface ReportEvent {
  readonly id: string
  readonly type: string
}

/**
 * Applies a provider's report on a payment. This is the only place where payments become credit: for webhooks, the return page,
 * the sweep and refunds. Each grant and reversal happens once, also for reports that are repeated, late or out of order.
 */
export async function applyReport(
  { database, clock, ledger, queueNotice }: ReportContext,
  checkout: CheckoutRecord,
  report: PaymentReport,
  event: ReportEvent | null = null,
): Promise<void> {
  requireSamePayment(checkout, report)
  const { accountId, id: paymentId } = checkout.payment
  if (report.reversals.length > 0) await ledger.recall(accountId)
  const isChanged = await database.transaction(async (transaction) => {
    const locked = await lockCheckout(transaction, paymentId)
    await writeProviderIds(transaction, paymentId, report)
    const nowMs = clock.nowMs()
    const apply = { transaction, ledger, queueNotice, checkout: locked, nowMs }
    const isGranted = await grantWhenPaid(apply, report)
    const isCredited = isGranted || locked.payment.completedAtMs !== null
    let isReversed = false
    for (const reversal of report.reversals) {
      if (await applyReversal(apply, reversal, isCredited)) isReversed = true
    }
    if (isCredited) await summariseReversals(transaction, locked.payment)
    else await writeProgress(transaction, locked.payment, report)
    if (event !== null) await recordEvent(transaction, { ...event, checkout: locked, nowMs })
    return isGranted || isReversed
  })
  if (isChanged) await ledger.announceChange(accountId)
}

interface Application extends NoticeContext {
  readonly transaction: Queryable
  readonly ledger: ReportContext['ledger']
  readonly checkout: CheckoutRecord
  readonly nowMs: number
}

/** A valid signature is not enough: account and amount must match the payment that we requested. */
function requireSamePayment({ payment }: CheckoutRecord, report: PaymentReport): void {
  const isAccount = report.accountId === null || report.accountId === payment.accountId
  const isAmount =
    report.state !== 'paid' ||
    (report.amountCents !== null &&
      report.currency === 'usd' &&
      nanoUsdFromCents(report.amountCents) === payment.amountNanoUsd)
  if (isAccount && isAmount) return
  throw new AppError('conflict', 'What was paid is not what was asked for. No credit was given.')
}

async function grantWhenPaid(
  { transaction, ledger, queueNotice, checkout: { payment, provider }, nowMs }: Application,
  report: PaymentReport,
): Promise<boolean> {
  if (report.receiptUrl !== null) {
    await transaction.query('UPDATE payments SET receipt_url = $2 WHERE id = $1', [
      payment.id,
      report.receiptUrl,
    ])
  }
  if (report.state !== 'paid' || payment.completedAtMs !== null) return false
  await ledger.grant(transaction, {
    key: `payment:${payment.id}`,
    accountId: payment.accountId,
    amountNanoUsd: payment.amountNanoUsd,
    class: 'paid',
    book: 'cash',
    reason: payment.kind === 'auto_top_up' ? `Automatic top-up by ${provider}` : `Payment by ${provider}`,
  })
  await transaction.query(`UPDATE payments SET status = 'completed', completed_at = $2 WHERE id = $1`, [
    payment.id,
    new Date(nowMs),
  ])
  await transaction.query('UPDATE checkouts SET check_at = NULL WHERE payment_id = $1', [payment.id])
  if (payment.kind === 'auto_top_up') await noteCharged(transaction, { queueNotice }, { payment, nowMs })
  return true
}

/** Deducts a reversed amount once, and grants it again once if the reversal is itself returned. */
async function applyReversal(
  application: Application,
  reversal: Reversal,
  isCredited: boolean,
): Promise<boolean> {
  // Credit cannot be deducted before it was granted. The provider will retry.
  if (!isCredited) {
    throw new AppError('service_unavailable', 'The payment is not known to be paid yet.', {
      retryAfterSeconds: 60,
    })
  }
  const { transaction, checkout } = application
  const reference = referenceOf(checkout, reversal)
  const known = await readReversal(transaction, reference)
  if (known === null) return takeBack(application, reversal, reference)
  if (!reversal.isReturned || known.status === 'returned') return false
  return giveBack(application, { reference, ...known })
}

/** The name under which a reversal is taken back once. */
export function referenceOf({ provider }: Pick<CheckoutRecord, 'provider'>, { kind, id }: Reversal): string {
  return `${kind}:${provider}:${id}`
}

async function takeBack(
  { transaction, ledger, checkout: { payment }, nowMs }: Application,
  { kind, amountCents, isReturned }: Reversal,
  reference: string,
): Promise<boolean> {
  const wantedNanoUsd = nanoUsdFromCents(amountCents)
  const leftNanoUsd = payment.amountNanoUsd - (await readReversed(transaction, payment.id)).amountNanoUsd
  // Never more than was granted for the payment. If a bank takes more, that is between the operator and the bank.
  const amountNanoUsd = isReturned ? 0n : wantedNanoUsd < leftNanoUsd ? wantedNanoUsd : leftNanoUsd
  await insertPayment(transaction, {
    id: createId(nowMs),
    accountId: payment.accountId,
    kind: 'refund',
    amountNanoUsd: isReturned ? -wantedNanoUsd : -amountNanoUsd,
    status: isReturned ? 'returned' : 'completed',
    refundedPaymentId: payment.id,
    reference,
    reason: REASONS[kind],
    nowMs,
  })
  if (amountNanoUsd === 0n) return false
  await ledger.reverse(transaction, {
    key: reference,
    accountId: payment.accountId,
    amountNanoUsd,
    book: 'cash',
    reason: REASONS[kind],
  })
  // After the account, as where a top-up is granted: otherwise the two might wait for each other.
  if (payment.kind === 'auto_top_up')
    await switchOffAfterReversal(transaction, payment.accountId, kind === 'refund' ? 'refunded' : 'disputed')
  return true
}

const REASONS = { refund: 'Refunded', dispute: 'Disputed by the payer' } as const

async function giveBack(
  { transaction, ledger, checkout: { payment } }: Application,
  { reference, amountNanoUsd }: { reference: string; amountNanoUsd: bigint },
): Promise<boolean> {
  await transaction.query(`UPDATE payments SET status = 'returned' WHERE reference = $1`, [reference])
  if (amountNanoUsd === 0n) return false
  await ledger.grant(transaction, {
    key: `${reference}:returned`,
    accountId: payment.accountId,
    amountNanoUsd,
    class: 'paid',
    book: 'cash',
    reason: 'The refund failed or the dispute was won',
  })
  return true
}

async function readReversal(
  transaction: Queryable,
  reference: string,
): Promise<{ status: PaymentStatus; amountNanoUsd: bigint } | null> {
  const [row] = await transaction.query<{ status: PaymentStatus; amount_nano_usd: bigint }>(
    'SELECT status, amount_nano_usd FROM payments WHERE reference = $1',
    [reference],
  )
  return row === undefined ? null : { status: row.status, amountNanoUsd: -row.amount_nano_usd }
}

/** What has been taken back of a payment. */
export interface Reversed {
  /** The amount that is reversed now. */
  readonly amountNanoUsd: bigint
  /** How many reversals there were, with those that failed or were returned. */
  readonly count: number
}

export async function readReversed(queryable: Queryable, paymentId: string): Promise<Reversed> {
  const [row] = await queryable.query<{ reversed: bigint; count: bigint }>(
    `SELECT coalesce(-sum(amount_nano_usd) FILTER (WHERE status = 'completed'), 0)::bigint AS reversed, count(*) AS count
     FROM payments WHERE refunded_payment_id = $1`,
    [paymentId],
  )
  return { amountNanoUsd: row?.reversed ?? 0n, count: Number(row?.count ?? 0) }
}

async function summariseReversals(transaction: Queryable, payment: Payment): Promise<void> {
  await transaction.query(
    `UPDATE payments SET status = CASE
       WHEN taken.disputes > 0 THEN 'disputed'
       WHEN taken.amount >= payments.amount_nano_usd THEN 'refunded'
       WHEN taken.amount > 0 THEN 'partially_refunded'
       ELSE 'completed' END
     FROM (SELECT coalesce(-sum(amount_nano_usd), 0) AS amount, count(*) FILTER (WHERE reference LIKE 'dispute:%') AS disputes
       FROM payments WHERE refunded_payment_id = $1 AND status = 'completed') AS taken
     WHERE payments.id = $1`,
    [payment.id],
  )
}

const PROGRESS: Readonly<Partial<Record<NonNullable<PaymentReport['state']>, PaymentStatus>>> = {
  processing: 'processing',
  failed: 'failed',
  expired: 'expired',
}

/** Updates the status of an unpaid payment. Late reports of an earlier state have no effect. */
async function writeProgress(
  transaction: Queryable,
  payment: Payment,
  { state }: PaymentReport,
): Promise<void> {
  const status = state === null ? undefined : PROGRESS[state]
  const isOpen = payment.status === 'pending' || payment.status === 'processing'
  if (status === undefined || !isOpen) return
  await transaction.query('UPDATE payments SET status = $2 WHERE id = $1', [payment.id, status])
  if (status === 'processing') return
  await transaction.query('UPDATE checkouts SET check_at = NULL WHERE payment_id = $1', [payment.id])
}

async function recordEvent(
  transaction: Queryable,
  { id, type, checkout, nowMs }: ReportEvent & { checkout: CheckoutRecord; nowMs: number },
): Promise<void> {
  await transaction.query(
    `INSERT INTO payment_events (provider, event_id, type, payment_id, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING`,
    [checkout.provider, id, type, checkout.payment.id, new Date(nowMs)],
  )
}
