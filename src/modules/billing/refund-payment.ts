import { AppError, invalidValue, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import type { PaymentProvider } from '../../payments/payment-provider.ts'
import type { ChangeActor } from '../audit/audit.ts'
import { applyReport, readReversed, referenceOf, type ReportContext } from './apply-report.ts'
import { centsFromNanoUsd } from './cents.ts'
import { findCheckout, type CheckoutRecord } from './checkout-record.ts'
import { inviteRepeating } from './invite-repeating.ts'
import { readPayment, type Payment } from './payment-record.ts'
import { recordRefund } from './record-refund.ts'
import {
  findRefundRequest,
  insertRefundRequest,
  type OperatorKey,
  type RefundRequestRecord,
} from './refund-request-record.ts'

export interface RefundRequest {
  readonly paymentId: string
  /** Null for the rest of the payment. */
  readonly amountNanoUsd: NanoUsd | null
  /** For the payment, and the audit log of the account. */
  readonly reason: string | null
  readonly idempotencyKey: OperatorKey | null
  readonly operator: ChangeActor
}

/** Shorter than the time for which providers remember idempotency keys, which is at least a day. */
const REPEATABLE_MS = 20 * 60 * 60_000

/** Refunds at the provider first. Credit is deducted only for money that was actually returned. */
export function refundPayment(
  context: ReportContext,
  providers: ReadonlyMap<string, PaymentProvider>,
  request: RefundRequest,
): Promise<Payment> {
  return inviteRepeating(request.idempotencyKey, () => refundOnce(context, providers, request))
}

async function refundOnce(
  context: ReportContext,
  providers: ReadonlyMap<string, PaymentProvider>,
  request: RefundRequest,
): Promise<Payment> {
  const { database } = context
  const { paymentId, idempotencyKey } = request
  const { provider, checkout } = await findRefundable(context, providers, paymentId)
  const earlier = idempotencyKey && (await findRefundRequest(database, idempotencyKey))
  if (earlier !== null) requireRepeatable(earlier, request)
  if (earlier?.isCompleted) return readPayment(database, paymentId, null)
  const reversed = await readReversed(database, paymentId)
  const leftNanoUsd = checkout.payment.amountNanoUsd - reversed.amountNanoUsd
  const amountNanoUsd = earlier?.amountNanoUsd ?? chooseAmount(request, leftNanoUsd)
  if (idempotencyKey !== null && earlier === null) {
    const isFirst = await insertRefundRequest(database, idempotencyKey, { paymentId, amountNanoUsd })
    if (!isFirst) return refundOnce(context, providers, request)
  }
  const amountCents = requireCents(amountNanoUsd, leftNanoUsd)
  const report = await provider.refund({
    sessionId: checkout.sessionId,
    providerPaymentId: checkout.providerPaymentId,
    amountCents,
    // Without an idempotency key, concurrent requests get the same key, because they start from the same state. A refund that
    // failed is counted, so that asking again makes another one.
    idempotencyKey: `refund:${paymentId}:${idempotencyKey?.key ?? `${reversed.amountNanoUsd}:${reversed.count}:${amountCents}`}`,
  })
  await applyReport(context, checkout, report)
  if (report.reversals.some(({ isReturned }) => isReturned))
    throw new AppError(
      'provider_error',
      'The payment provider could not make the refund. Nothing was taken back.',
    )
  const [made] = report.reversals
  await recordRefund(database, {
    payment: checkout.payment,
    reference: made && referenceOf(checkout, made),
    amountNanoUsd,
    reason: request.reason,
    operator: request.operator,
    idempotencyKey,
  })
  return readPayment(database, paymentId, null)
}

function requireRepeatable(earlier: RefundRequestRecord, { paymentId, amountNanoUsd }: RefundRequest): void {
  const isSameAmount = amountNanoUsd === null || amountNanoUsd === earlier.amountNanoUsd
  if (earlier.paymentId !== paymentId || !isSameAmount) {
    throw new AppError('idempotency_key_reused', 'This Idempotency-Key was used for another refund.')
  }
  if (earlier.isCompleted || earlier.ageMs < REPEATABLE_MS) return
  const message =
    'A refund was begun with this Idempotency-Key long ago. Look at the payment, and use another key.'
  throw new AppError('conflict', message)
}

function chooseAmount({ amountNanoUsd }: RefundRequest, leftNanoUsd: NanoUsd): NanoUsd {
  const wantedNanoUsd = amountNanoUsd ?? leftNanoUsd
  if (leftNanoUsd === 0n) throw new AppError('conflict', 'Nothing is left of this payment to refund.')
  requireCents(wantedNanoUsd, leftNanoUsd)
  if (wantedNanoUsd <= leftNanoUsd) return wantedNanoUsd
  throw tooMuch(leftNanoUsd)
}

function requireCents(amountNanoUsd: NanoUsd, leftNanoUsd: NanoUsd): number {
  const amountCents = centsFromNanoUsd(amountNanoUsd)
  if (amountCents === null || amountCents <= 0) throw tooMuch(leftNanoUsd)
  return amountCents
}

function tooMuch(leftNanoUsd: NanoUsd): AppError {
  return invalidValue('amount_usd', `amount_usd must be at most ${formatUsd(leftNanoUsd)}, in whole cents.`)
}

async function findRefundable(
  { database }: ReportContext,
  providers: ReadonlyMap<string, PaymentProvider>,
  paymentId: string,
): Promise<{ provider: PaymentProvider; checkout: CheckoutRecord }> {
  if (!isUuid(paymentId)) throw notFound('payment')
  const payment = await readPayment(database, paymentId, null)
  for (const provider of providers.values()) {
    const checkout = await findCheckout(database, provider.name, { paymentId: payment.id })
    if (checkout === null) continue
    const { sessionId, providerPaymentId } = checkout
    if (payment.completedAtMs === null || (sessionId ?? providerPaymentId) === null) {
      throw new AppError('conflict', 'This payment was not paid.')
    }
    return { provider, checkout }
  }
  throw new AppError('conflict', 'Only what was paid at a configured payment provider can be refunded.')
}
