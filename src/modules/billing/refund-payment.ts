import { AppError, invalidValue, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import type { PaymentProvider } from '../../payments/payment-provider.ts'
import { applyReport, readReversedNanoUsd, type ReportContext } from './apply-report.ts'
import { centsFromNanoUsd } from './cents.ts'
import { findCheckout, type CheckoutRecord } from './checkout-record.ts'
import { readPayment, type Payment } from './payment-record.ts'

export interface RefundRequest {
  readonly paymentId: string
  /** What is left of the payment when null. */
  readonly amountNanoUsd: NanoUsd | null
  readonly idempotencyKey: string | null
}

/** The provider gives the money back first: credit is taken for what went back, never for what was only meant to. */
export async function refundPayment(
  context: ReportContext,
  providers: ReadonlyMap<string, PaymentProvider>,
  request: RefundRequest,
): Promise<Payment> {
  const { provider, checkout, sessionId } = await findRefundable(context, providers, request.paymentId)
  const reversedNanoUsd = await readReversedNanoUsd(context.database, checkout.payment.id)
  const leftNanoUsd = checkout.payment.amountNanoUsd - reversedNanoUsd
  const amountNanoUsd = request.amountNanoUsd ?? leftNanoUsd
  if (leftNanoUsd === 0n) throw new AppError('conflict', 'Nothing is left of this payment to refund.')
  const amountCents = centsFromNanoUsd(amountNanoUsd)
  if (amountCents === null || amountCents <= 0 || amountNanoUsd > leftNanoUsd) {
    throw invalidValue('amount_usd', `amount_usd must be at most ${formatUsd(leftNanoUsd)}, in whole cents.`)
  }
  const report = await provider.refund({
    sessionId,
    providerPaymentId: checkout.providerPaymentId,
    amountCents,
    // Without a name for it, two requests at the same moment are one: what they start from is the same.
    idempotencyKey: `refund:${checkout.payment.id}:${request.idempotencyKey ?? `${reversedNanoUsd}:${amountCents}`}`,
  })
  await applyReport(context, checkout, report)
  return readPayment(context.database, checkout.payment.id, null)
}

async function findRefundable(
  { database }: ReportContext,
  providers: ReadonlyMap<string, PaymentProvider>,
  paymentId: string,
): Promise<{ provider: PaymentProvider; checkout: CheckoutRecord; sessionId: string }> {
  if (!isUuid(paymentId)) throw notFound('payment')
  const payment = await readPayment(database, paymentId, null)
  for (const provider of providers.values()) {
    const checkout = await findCheckout(database, provider.name, { paymentId: payment.id })
    if (checkout === null) continue
    if (payment.completedAtMs === null || checkout.sessionId === null) {
      throw new AppError('conflict', 'This payment was not paid.')
    }
    return { provider, checkout, sessionId: checkout.sessionId }
  }
  throw new AppError('conflict', 'Only what was paid at a configured payment provider can be refunded.')
}
