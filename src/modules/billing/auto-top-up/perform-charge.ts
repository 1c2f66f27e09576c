import { AppError } from '../../../kernel/app-error.ts'
import type { Logger } from '../../../kernel/logger.ts'
import { EMPTY_REPORT, type PaymentProvider } from '../../../payments/payment-provider.ts'
import type { ChargeReport, Decline, SavedCharge } from '../../../payments/saved-methods.ts'
import type { Queryable } from '../../../storage/database.ts'
import { applyReport, type ReportContext } from '../apply-report.ts'
import { centsFromNanoUsd } from '../cents.ts'
import { findCheckout, lockCheckout, type CheckoutRecord } from '../checkout-record.ts'
import { noteFailed } from './end-charge.ts'

export interface PerformContext extends ReportContext {
  readonly logger: Logger
}

interface RefusableCharge extends ClaimedCharge {
  /** Payments without money that were decided before they were refused. */
  readonly isRefused: boolean
}

interface ClaimedCharge {
  readonly paymentId: string
  readonly customerId: string
  readonly methodId: string
}

/** A claimed charge is another process's again after this time, or asked for again: longer than the provider may take. */
const CLAIM_MS = 90_000
const CLAIMED_AT_ONCE = 20

/**
 * Charges what was decided and is not over. It may be done again by any process after any crash: our payment's id is the idempotency
 * key, and when the provider may have forgotten it, the charge is looked for and never made again.
 */
export async function performCharges(
  context: PerformContext,
  provider: PaymentProvider,
  isRefused: boolean,
): Promise<void> {
  for (const claimed of await claimCharges(context.database, provider.name, context.clock.nowMs())) {
    try {
      await performCharge(context, provider, { ...claimed, isRefused })
    } catch (error) {
      const { paymentId } = claimed
      context.logger.warn({ err: error, paymentId }, 'an automatic top-up could not be charged yet')
    }
  }
}

async function performCharge(
  context: PerformContext,
  provider: PaymentProvider,
  claimed: RefusableCharge,
): Promise<void> {
  const checkout = await findCheckout(context.database, provider.name, claimed)
  if (checkout === null) throw new Error(`the payment ${claimed.paymentId} has no checkout`)
  if (checkout.payment.status === 'failed') return creditIfCharged(context, provider, { claimed, checkout })
  const { report, decline } = claimed.isRefused
    ? REFUSED
    : await askForCharge(context, provider, orderOf(claimed, checkout))
  if (decline === null) await applyReport(context, checkout, withReceipt(provider, checkout, report))
  else await failCharge(context, checkout, decline)
}

/** Its provider was away for long, and is set up again. It is looked for, and never made. */
async function creditIfCharged(
  context: PerformContext,
  provider: PaymentProvider,
  { claimed, checkout }: { claimed: ClaimedCharge; checkout: CheckoutRecord },
): Promise<void> {
  const found = await provider.savedMethods.findCharge(orderOf(claimed, checkout))
  if (found?.decline === null) {
    await applyReport(context, checkout, withReceipt(provider, checkout, found.report))
    if (found.report.state !== 'paid') return
  }
  await context.database.query('UPDATE auto_top_up_charges SET check_at = NULL WHERE payment_id = $1', [
    claimed.paymentId,
  ])
}

function orderOf({ paymentId, customerId, methodId }: ClaimedCharge, checkout: CheckoutRecord): SavedCharge {
  const { payment, providerPaymentId } = checkout
  return {
    paymentId,
    accountId: payment.accountId,
    customerId,
    methodId,
    amountCents: centsFromNanoUsd(payment.amountNanoUsd) ?? 0,
    createdAtMs: payment.createdAtMs,
    providerPaymentId,
  }
}

const NEVER_MADE: ChargeReport = {
  report: { ...EMPTY_REPORT, state: 'failed' },
  decline: { code: 'not_charged', isFinal: false },
}

const REFUSED: ChargeReport = { ...NEVER_MADE, decline: { code: 'refused', isFinal: true } }

async function askForCharge(
  { clock }: PerformContext,
  { savedMethods }: PaymentProvider,
  order: SavedCharge,
): Promise<ChargeReport> {
  const isRepeatable = clock.nowMs() - order.createdAtMs < savedMethods.repeatableMs
  if (order.providerPaymentId !== null || !isRepeatable)
    return (await savedMethods.findCharge(order)) ?? NEVER_MADE
  try {
    return await savedMethods.charge(order)
  } catch (error) {
    requireRefusal(error)
    // The provider refused this request, not an earlier one whose answer was lost: that may have charged the card.
    const made = await savedMethods.findCharge(order).catch(requireRefusal)
    return made ?? REFUSED
  }
}

/** The provider refused the request itself: the card was removed there, or the keys are of another account. */
function requireRefusal(error: unknown): null {
  if (error instanceof AppError && error.code === 'provider_error') return null
  throw error
}

/** A provider without receipts of its own: the gateway writes one. */
function withReceipt(
  { sessionOfToken }: PaymentProvider,
  { baseUrl, payment }: CheckoutRecord,
  report: ChargeReport['report'],
): ChargeReport['report'] {
  if (sessionOfToken === undefined) return report
  return { ...report, receiptUrl: `${baseUrl}/v1/payments/${payment.id}/receipt` }
}

async function failCharge(
  context: PerformContext,
  { payment: { id: paymentId } }: CheckoutRecord,
  decline: Decline,
): Promise<void> {
  const nowMs = context.clock.nowMs()
  await context.database.transaction(async (transaction) => {
    const { payment } = await lockCheckout(transaction, paymentId)
    if (payment.status !== 'pending' && payment.status !== 'processing') return
    await transaction.query(`UPDATE payments SET status = 'failed', reason = $2 WHERE id = $1`, [
      paymentId,
      `The saved card could not be charged: ${decline.code}`,
    ])
    await noteFailed(transaction, context, { payment, decline, nowMs })
  })
}

/** Sets the next check of what it claims, so that no two processes ask at the same time. */
async function claimCharges(queryable: Queryable, provider: string, nowMs: number): Promise<ClaimedCharge[]> {
  const rows = await queryable.query<{ payment_id: string; customer_id: string; method_id: string }>(
    `UPDATE auto_top_up_charges AS charges SET check_at = $2::timestamptz
       + greatest($3 * interval '1 millisecond', least(interval '1 hour', ($2::timestamptz - payments.created_at) / 4))
     FROM payments WHERE payments.id = payment_id AND payment_id IN (
       SELECT due.payment_id FROM auto_top_up_charges due JOIN checkouts ON checkouts.payment_id = due.payment_id
       WHERE checkouts.provider = $1 AND due.check_at <= $2
       ORDER BY due.check_at LIMIT $4 FOR UPDATE OF due SKIP LOCKED)
     RETURNING charges.payment_id, customer_id, method_id`,
    [provider, new Date(nowMs), CLAIM_MS, CLAIMED_AT_ONCE],
  )
  return rows.map((row) => ({
    paymentId: row.payment_id,
    customerId: row.customer_id,
    methodId: row.method_id,
  }))
}
