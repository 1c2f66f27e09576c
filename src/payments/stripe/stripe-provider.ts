import type Stripe from 'stripe'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { PaymentProvider, Webhook } from '../payment-provider.ts'
import { createStripeCheckout, readStripeCheckout } from './stripe-checkout.ts'
import { readStripePayment, refundStripePayment } from './stripe-payment.ts'
import { readStripeEvent } from './read-stripe-event.ts'
import { createStripeSavedMethods } from './stripe-saved-methods.ts'

export interface StripeProviderOptions {
  readonly secretKey: string | null
  readonly webhookSecret: string | null
  readonly publishableKey: string | null
  /** Another server with Stripe's API. Null for Stripe. */
  readonly apiBaseUrl: string | null
  readonly clock: Clock
}

const REQUEST_MS_MAX = 20_000
const NETWORK_RETRIES_MAX = 2

/** Creates the Stripe Checkout provider: a page at Stripe, with webhooks that report payments. */
export function createStripeProvider(options: StripeProviderOptions): PaymentProvider {
  const { secretKey, webhookSecret, clock } = options
  // Loaded on first use, because the package is too expensive to load at start.
  let client: Promise<Stripe> | undefined
  const call = async <Result>(work: (stripe: Stripe) => Promise<Result>): Promise<Result> => {
    client ??= connectStripe(options)
    const stripe = await client
    try {
      return await work(stripe)
    } catch (error) {
      throw await toPaymentError(error)
    }
  }

  return {
    name: 'stripe',
    isTestMode: secretKey === null || !/^(sk|rk)_live_/.test(secretKey),
    publishableKey: options.publishableKey,
    problem: findProblem(options),
    createCheckout: (order) => call((stripe) => createStripeCheckout(stripe, order)),
    readCheckout: (sessionId) => call((stripe) => readStripeCheckout(stripe, sessionId)),
    readPayment: (paymentIntentId) => call((stripe) => readStripePayment(stripe, paymentIntentId)),
    refund: (order) => call((stripe) => refundStripePayment(stripe, order)),
    savedMethods: createStripeSavedMethods(call),
    readWebhook: async (webhook) => {
      if (webhookSecret === null) throw notConfigured()
      client ??= connectStripe(options)
      const event = verifyStripeEvent(await client, webhook, { secret: webhookSecret, nowMs: clock.nowMs() })
      return call((stripe) => readStripeEvent(stripe, event))
    },
  }
}

/** Returns why payments are disabled. With an incomplete configuration the gateway would take money but miss refunds. */
function findProblem({ secretKey, webhookSecret }: StripeProviderOptions): string | null {
  if (secretKey !== null && webhookSecret !== null) return null
  return 'Payments are not fully configured: Stripe needs its secret key and its webhook secret.'
}

function notConfigured(): AppError {
  return new AppError('provider_not_configured', 'The webhook secret of Stripe is not configured.')
}

async function connectStripe({ secretKey, apiBaseUrl }: StripeProviderOptions): Promise<Stripe> {
  const { default: StripeClient } = await import('stripe')
  return new StripeClient(secretKey ?? 'unset', {
    maxNetworkRetries: NETWORK_RETRIES_MAX,
    timeout: REQUEST_MS_MAX,
    telemetry: false,
    ...(apiBaseUrl === null ? {} : addressOf(new URL(apiBaseUrl))),
  })
}

function addressOf({ protocol, hostname, port }: URL): {
  host: string
  port: number
  protocol: 'http' | 'https'
} {
  const isPlain = protocol === 'http:'
  return {
    host: hostname,
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    protocol: isPlain ? 'http' : 'https',
  }
}

const RETRY_AFTER_SECONDS = 5

/**
 * Converts an error of Stripe. A refusal is final and becomes `provider_error`. After any other error it is unknown whether
 * Stripe acted, and the request may be repeated. Stripe's message is only logged.
 */
async function toPaymentError(error: unknown): Promise<unknown> {
  if (error instanceof AppError) return error
  const { default: StripeClient } = await import('stripe')
  if (!(error instanceof StripeClient.errors.StripeError)) return error
  const status = error.statusCode ?? 0
  if (status >= 400 && status < 500 && status !== 409 && status !== 429) {
    return new AppError('provider_error', 'The payment provider refused the request.', { cause: error })
  }
  return new AppError('service_unavailable', 'The payment provider does not answer at the moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  })
}

const TOLERANCE_SECONDS = 300

/** Verifies a webhook with Stripe's library: an HMAC over the time and the raw bytes, at most five minutes old. */
function verifyStripeEvent(
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
    // Give no details, which would help an attacker.
    throw new AppError('invalid_request', 'The webhook is not signed by Stripe, or is too old.', { cause })
  }
}
