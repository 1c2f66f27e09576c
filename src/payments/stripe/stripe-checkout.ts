import type Stripe from 'stripe'
import { AppError } from '../../kernel/app-error.ts'
import { EMPTY_REPORT, type Checkout, type CheckoutOrder, type PaymentReport } from '../payment-provider.ts'
import { metadataOf, readOrderMetadata } from './order-metadata.ts'

/** Creates a Stripe checkout. The payment id is the idempotency key, so a repeated request returns the first session. */
export async function createStripeCheckout(stripe: Stripe, order: CheckoutOrder): Promise<Checkout> {
  const metadata = metadataOf(order)
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'payment',
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: 'usd',
            unit_amount: order.amountCents,
            product_data: { name: 'Prepaid credit' },
          },
        },
      ],
      client_reference_id: order.paymentId,
      metadata,
      // Stripe copies these to the charge, by which refunds are assigned to the payment.
      payment_intent_data: { metadata },
      success_url:
        order.successUrl ?? `${order.baseUrl}/checkout/stripe/return?session_id={CHECKOUT_SESSION_ID}`,
      ...(order.cancelUrl === null ? {} : { cancel_url: order.cancelUrl }),
      expires_at: Math.floor(order.expiresAtMs / 1000),
    },
    { idempotencyKey: `checkout:${order.paymentId}` },
  )
  if (session.url === null) throw new AppError('provider_error', 'Stripe gave no page to pay at.')
  return { sessionId: session.id, url: session.url }
}

export async function readStripeCheckout(stripe: Stripe, sessionId: string): Promise<PaymentReport> {
  const session = await stripe.checkout.sessions.retrieve(sessionId, {
    expand: ['payment_intent.latest_charge'],
  })
  return reportSession(session)
}

export function reportSession(session: Stripe.Checkout.Session): PaymentReport {
  const intent = session.payment_intent
  const charge = typeof intent === 'object' ? intent?.latest_charge : null
  return {
    ...EMPTY_REPORT,
    ...readOrderMetadata(session.metadata),
    sessionId: session.id,
    providerPaymentId: typeof intent === 'string' ? intent : (intent?.id ?? null),
    state: stateOf(session),
    amountCents: session.amount_total,
    currency: session.currency,
    receiptUrl: typeof charge === 'object' ? (charge?.receipt_url ?? null) : null,
  }
}

function stateOf({
  status,
  payment_status,
  payment_intent,
}: Stripe.Checkout.Session): PaymentReport['state'] {
  if (payment_status === 'paid') return 'paid'
  if (status === 'expired') return 'expired'
  if (status !== 'complete') return 'open'
  // After a delayed payment failed, the intent requires another method, while the session stays complete and unpaid.
  const intentStatus = typeof payment_intent === 'object' ? payment_intent?.status : undefined
  return intentStatus === 'requires_payment_method' || intentStatus === 'canceled' ? 'failed' : 'processing'
}
