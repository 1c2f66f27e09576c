import { createHmac } from 'node:crypto'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { startStripeServer, STRIPE_SECRET_KEY, type StripeServer } from '../upstreams/stripe-server.ts'
import type { StripeEvent } from '../upstreams/stripe-objects.ts'
import { balanceOf, createAccount, type TestAccount } from './accounts.ts'
import { openTestDatabase, type OpenDatabase } from './open-test-database.ts'

export const WEBHOOK_SECRET = 'whsec_test_secret'
const WEBHOOK_PATH = '/v1/payments/webhook/stripe'

interface StartedCheckout extends TestAccount {
  readonly paymentId: string
  readonly sessionId: string
}

export interface StripeStage {
  readonly gateway: TestGateway
  readonly stripe: StripeServer
  readonly database: OpenDatabase
  /** Creates an account without credit and starts a checkout. */
  startCheckout(amountUsd?: number): Promise<StartedCheckout>
  /** Does the same, and delivers the webhook of the payment, which credits the account. */
  payCheckout(amountUsd?: number): Promise<StartedCheckout & { intentId: string }>
  deliver(event: StripeEvent, options?: DeliveryOptions): Promise<TestAnswer>
  balance(account: TestAccount): Promise<number>
  readPayment(checkout: StartedCheckout): Promise<TestAnswer['body']>
  history(account: TestAccount): Promise<TestAnswer['body'][]>
  close(): Promise<void>
}

export interface DeliveryOptions {
  readonly secret?: string
  /** The age of the signature. */
  readonly ageSeconds?: number
  /** The signature header instead of a valid one; null for none. */
  readonly signature?: string | null
  /** A body that differs from the signed one. */
  readonly body?: string
  readonly contentType?: string
}

/** Starts a gateway that uses a local server as Stripe. */
export async function startStripeStage(settings: Record<string, string> = {}): Promise<StripeStage> {
  const stripe = await startStripeServer()
  const gateway = await startTestGateway({
    settings: {
      STRIPE_SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_PUBLISHABLE_KEY: 'pk_test_local',
      STRIPE_API_BASE_URL: stripe.baseUrl,
      PARKWAY_PAYMENT_SWEEP_INTERVAL_MS: '50',
      ...settings,
    },
  })
  const database = openTestDatabase(gateway)

  const startCheckout = async (amountUsd = 20): Promise<StartedCheckout> => {
    const account = await createAccount(gateway)
    const { body } = await gateway.request('POST', '/v1/payments/checkout', {
      key: account.key,
      body: { amount_usd: amountUsd },
    })
    return { ...account, paymentId: body.id, sessionId: body.checkout_url.split('/').at(-1) }
  }

  const deliver = (event: StripeEvent, options: DeliveryOptions = {}): Promise<TestAnswer> => {
    const text = JSON.stringify(event)
    const signature = options.signature === undefined ? sign(text, options) : options.signature
    return gateway.request('POST', WEBHOOK_PATH, {
      key: null,
      body: options.body ?? text,
      headers: {
        'content-type': options.contentType ?? 'application/json; charset=utf-8',
        ...(signature === null ? {} : { 'stripe-signature': signature }),
      },
    })
  }

  return {
    gateway,
    stripe,
    database,
    startCheckout,
    payCheckout: async (amountUsd) => {
      const checkout = await startCheckout(amountUsd)
      const { completed, intentId } = stripe.state.pay(checkout.sessionId)
      await deliver(completed)
      return { ...checkout, intentId }
    },
    deliver,
    balance: ({ key }) => balanceOf(gateway, key),
    readPayment: async ({ key, paymentId }) =>
      (await gateway.request('GET', `/v1/payments/${paymentId}`, { key })).body,
    history: async ({ key }) => (await gateway.request('GET', '/v1/payments/history', { key })).body.payments,
    close: async () => {
      await database.close()
      await gateway.close()
      await stripe.close()
    },
  }
}

/** Signs a body as Stripe documents it: HMAC-SHA256 of the time, a dot and the body. */
export function sign(
  text: string,
  { secret = WEBHOOK_SECRET, ageSeconds = 0 }: DeliveryOptions = {},
): string {
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds
  const hmac = createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex')
  return `t=${timestamp},v1=${hmac}`
}
