import { AppError, notFound } from '../../kernel/app-error.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { EMPTY_REPORT, type PaymentProvider } from '../../payments/payment-provider.ts'
import { applyReport, readReversed, type ReportContext } from './apply-report.ts'
import { centsFromNanoUsd } from './cents.ts'
import { findCheckout, type CheckoutRecord } from './checkout-record.ts'
import { readPayment, type Payment } from './payment-record.ts'

/** A checkout as the payment page shows it. */
export interface HostedCheckout {
  readonly payment: Payment
  readonly state: 'open' | 'paid' | 'cancelled' | 'expired'
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly expiresAtMs: number
}

/** The URL of the page is its only credential, so errors reveal nothing about other checkouts. */
export async function readHostedCheckout(
  context: ReportContext,
  provider: PaymentProvider,
  token: string,
): Promise<HostedCheckout> {
  return toHosted(await findHosted(context, provider, token), context.clock.nowMs())
}

/** Pays the checkout. A repeated call has no further effect. */
export async function payHostedCheckout(
  context: ReportContext,
  provider: PaymentProvider,
  token: string,
): Promise<HostedCheckout> {
  const checkout = await findHosted(context, provider, token)
  const { state } = toHosted(checkout, context.clock.nowMs())
  if (state === 'open') {
    await applyReport(context, checkout, {
      ...EMPTY_REPORT,
      state: 'paid',
      amountCents: centsFromNanoUsd(checkout.payment.amountNanoUsd),
      currency: 'usd',
      // The gateway's own, because nobody else knows of the payment.
      receiptUrl: `${checkout.baseUrl}/v1/payments/${checkout.payment.id}/receipt`,
    })
  } else if (state !== 'paid') {
    throw new AppError('conflict', `This checkout is ${state}.`)
  }
  return readHostedCheckout(context, provider, token)
}

/** What a receipt of the gateway says. */
export interface Receipt {
  readonly payment: Payment
  /** What was taken back of it until now. */
  readonly refundedNanoUsd: NanoUsd
}

/** Of a payment that was made at the gateway's own page. Other providers write their own. */
export async function readReceipt(
  { database }: Pick<ReportContext, 'database'>,
  provider: PaymentProvider,
  place: { readonly accountId: string; readonly paymentId: string },
): Promise<Receipt> {
  const { id: paymentId } = await readPayment(database, place.paymentId, place.accountId)
  const checkout = await findCheckout(database, provider.name, { paymentId })
  if (checkout === null || checkout.payment.completedAtMs === null) throw notFound('receipt')
  const { amountNanoUsd } = await readReversed(database, paymentId)
  return { payment: checkout.payment, refundedNanoUsd: amountNanoUsd }
}

/** Cancels the checkout, unless it is already paid. */
export async function cancelHostedCheckout(
  context: ReportContext,
  provider: PaymentProvider,
  token: string,
): Promise<HostedCheckout> {
  const { payment } = await findHosted(context, provider, token)
  await context.database.query(
    `UPDATE payments SET status = 'cancelled' WHERE id = $1 AND status = 'pending'`,
    [payment.id],
  )
  return readHostedCheckout(context, provider, token)
}

async function findHosted(
  { database }: ReportContext,
  provider: PaymentProvider,
  token: string,
): Promise<CheckoutRecord> {
  const sessionId = provider.sessionOfToken?.(token)
  const checkout = sessionId === undefined ? null : await findCheckout(database, provider.name, { sessionId })
  if (checkout === null) throw notFound('checkout')
  return checkout
}

function toHosted(checkout: CheckoutRecord, nowMs: number): HostedCheckout {
  const { payment, successUrl, cancelUrl, expiresAtMs } = checkout
  return { payment, state: stateOf(checkout, nowMs), successUrl, cancelUrl, expiresAtMs }
}

function stateOf({ payment, expiresAtMs }: CheckoutRecord, nowMs: number): HostedCheckout['state'] {
  if (payment.completedAtMs !== null) return 'paid'
  if (payment.status === 'cancelled') return 'cancelled'
  return payment.status === 'pending' && nowMs < expiresAtMs ? 'open' : 'expired'
}
