import type Stripe from 'stripe'
import { AppError } from '../../kernel/app-error.ts'
import { EMPTY_REPORT, type PaymentReport, type RefundOrder, type Reversal } from '../payment-provider.ts'
import { readOrderMetadata } from './order-metadata.ts'

const REFUNDS_MAX = 100

export async function readStripePayment(stripe: Stripe, paymentIntentId: string): Promise<PaymentReport> {
  const intent = await stripe.paymentIntents.retrieve(paymentIntentId, { expand: ['latest_charge'] })
  const charge = intent.latest_charge
  return {
    ...EMPTY_REPORT,
    ...readOrderMetadata(intent.metadata),
    providerPaymentId: intent.id,
    state: intent.status === 'succeeded' ? 'paid' : null,
    amountCents: intent.amount_received,
    currency: intent.currency,
    receiptUrl: typeof charge === 'object' ? (charge?.receipt_url ?? null) : null,
  }
}

export async function refundStripePayment(stripe: Stripe, order: RefundOrder): Promise<PaymentReport> {
  const { providerPaymentId, amountCents, idempotencyKey } = order
  if (providerPaymentId === null) {
    throw new AppError('conflict', 'Stripe has not said yet which payment this is. Try again later.')
  }
  const refund = await stripe.refunds.create(
    { payment_intent: providerPaymentId, amount: amountCents },
    { idempotencyKey },
  )
  return { ...EMPTY_REPORT, providerPaymentId, reversals: [reversalOfRefund(refund)] }
}

/** Reports a charge. A charge contains the refunded amount but not the refunds, so they are requested separately. */
export async function reportCharge(stripe: Stripe, charge: Stripe.Charge): Promise<PaymentReport> {
  const { data: refunds } =
    charge.amount_refunded > 0
      ? await stripe.refunds.list({ charge: charge.id, limit: REFUNDS_MAX })
      : { data: [] }
  return {
    ...EMPTY_REPORT,
    ...readOrderMetadata(charge.metadata),
    providerPaymentId: idOf(charge.payment_intent),
    state: charge.paid ? 'paid' : null,
    amountCents: charge.amount,
    currency: charge.currency,
    receiptUrl: charge.receipt_url,
    reversals: refunds.map(reversalOfRefund),
  }
}

export function reportRefund(refund: Stripe.Refund): PaymentReport {
  return {
    ...EMPTY_REPORT,
    providerPaymentId: idOf(refund.payment_intent),
    reversals: [reversalOfRefund(refund)],
  }
}

export function reportDispute(dispute: Stripe.Dispute): PaymentReport {
  return {
    ...EMPTY_REPORT,
    providerPaymentId: idOf(dispute.payment_intent),
    // Inquiries and prevented disputes move no money.
    reversals: isMoneyMoved(dispute.status) ? [reversalOfDispute(dispute)] : [],
  }
}

function isMoneyMoved(status: string): boolean {
  return !status.startsWith('warning_') && status !== 'prevented'
}

function reversalOfDispute({ id, amount, status }: Stripe.Dispute): Reversal {
  return { kind: 'dispute', id, amountCents: amount, isReturned: status === 'won' }
}

function reversalOfRefund({ id, amount, status }: Stripe.Refund): Reversal {
  return {
    kind: 'refund',
    id,
    amountCents: amount,
    isReturned: status === 'failed' || status === 'canceled',
  }
}

function idOf(reference: string | { id: string } | null | undefined): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null)
}
