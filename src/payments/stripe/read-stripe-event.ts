import type Stripe from 'stripe'
import type { PaymentNotice, PaymentReport } from '../payment-provider.ts'
import { reportSession } from './stripe-checkout.ts'
import { reportCharge, reportDispute, reportRefund } from './stripe-payment.ts'

/** Reads the payment report of an event. Other event types have no report. */
export async function readStripeEvent(stripe: Stripe, event: Stripe.Event): Promise<PaymentNotice> {
  const about = { eventId: event.id, type: event.type }
  const setupSessionId = setupOf(event)
  if (setupSessionId !== null) return { ...about, report: null, setupSessionId }
  return { ...about, report: await reportOf(stripe, event), setupSessionId }
}

function setupOf(event: Stripe.Event): string | null {
  const isSession = event.type === 'checkout.session.completed' || event.type === 'checkout.session.expired'
  return isSession && event.data.object.mode === 'setup' ? event.data.object.id : null
}

async function reportOf(stripe: Stripe, event: Stripe.Event): Promise<PaymentReport | null> {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- Stripe has hundreds of types; these concern payments
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.expired':
      return reportSession(event.data.object)
    case 'checkout.session.async_payment_failed':
      return { ...reportSession(event.data.object), state: 'failed' }
    case 'charge.succeeded':
    case 'charge.refunded':
      return reportCharge(stripe, event.data.object)
    case 'charge.refund.updated':
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return reportRefund(event.data.object)
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
    case 'charge.dispute.closed':
      return reportDispute(event.data.object)
    default:
      return null
  }
}
