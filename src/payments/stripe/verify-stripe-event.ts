import type Stripe from 'stripe'
import { AppError } from '../../kernel/app-error.ts'
import type { Webhook } from '../payment-provider.ts'

const TOLERANCE_SECONDS = 300

/** Stripe's own check: HMAC over the time and the bytes as they came, and no older than five minutes. */
export function verifyStripeEvent(
  stripe: Stripe,
  { body, headers }: Webhook,
  { secret, nowMs }: { secret: string; nowMs: number },
): Stripe.Event {
  const signature = headers['stripe-signature']
  if (typeof signature !== 'string') {
    throw new AppError('invalid_request', 'The webhook carries no stripe-signature header.')
  }
  try {
    return stripe.webhooks.constructEvent(body, signature, secret, TOLERANCE_SECONDS, undefined, nowMs)
  } catch (cause) {
    // Nothing more is said: who forges must not learn how near it came.
    throw new AppError('invalid_request', 'The webhook is not signed by Stripe, or is too old.', { cause })
  }
}
