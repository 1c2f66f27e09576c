import type { Checkout, PaymentReport } from './payment-report.ts'
import type { SavedMethods } from './saved-methods.ts'

export { EMPTY_REPORT, type Checkout, type PaymentReport, type Reversal } from './payment-report.ts'

/**
 * A payment provider. It creates a checkout page and reports the state of a payment, by webhook or on request. It does not decide
 * about credit.
 */
export interface PaymentProvider {
  readonly name: string
  /** Whether payments use no real money. */
  readonly isTestMode: boolean
  /** The key with which browsers call the provider. Null if they never do. */
  readonly publishableKey: string | null
  /** The reason why payments are not possible, for clients. Null if they are. */
  readonly problem: string | null

  /** Creates a checkout page. The same order always returns the same page. */
  createCheckout(order: CheckoutOrder): Promise<Checkout>
  /** Returns the current state of a checkout at the provider. */
  readCheckout(sessionId: string): Promise<PaymentReport>
  /** Returns the same by the provider's payment id. */
  readPayment(providerPaymentId: string): Promise<PaymentReport>
  /** Verifies the sender, then parses the webhook. Throws an `AppError` if it is forged or too old. */
  readWebhook(webhook: Webhook): Promise<PaymentNotice>
  /** Refunds money. The same idempotency key refunds only once. */
  refund(order: RefundOrder): Promise<PaymentReport>
  /** Payment methods that are charged while nobody is present. */
  readonly savedMethods: SavedMethods
  /** Only for a provider whose page the gateway serves: returns the session of the secret token in the page's URL. */
  readonly sessionOfToken?: (token: string) => string
}

export interface CheckoutOrder {
  /** Our id of the payment, also the idempotency key. */
  readonly paymentId: string
  readonly accountId: string
  readonly amountCents: number
  /** The base URL of the gateway's own pages. */
  readonly baseUrl: string
  /** Null uses the gateway's own page. */
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly expiresAtMs: number
}

export interface Webhook {
  /** The raw bytes, because the signature covers them. */
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface PaymentNotice {
  readonly eventId: string
  readonly type: string
  /** Null for an event that does not concern one of our payments. */
  readonly report: PaymentReport | null
  /** The page whose payment method was saved or not. Null for an event about anything else. */
  readonly setupSessionId: string | null
}

export interface RefundOrder {
  /** Null for a payment without a page. */
  readonly sessionId: string | null
  readonly providerPaymentId: string | null
  readonly amountCents: number
  readonly idempotencyKey: string
}
