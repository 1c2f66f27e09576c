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

export interface Checkout {
  readonly sessionId: string
  readonly url: string
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
}

/**
 * The provider's report about one payment. Reports may arrive twice and in any order. Applying an older report after a newer one
 * has no effect.
 */
export interface PaymentReport {
  /** Our id of the payment, as given to the provider. Null if the report does not contain it. */
  readonly paymentId: string | null
  readonly accountId: string | null
  readonly sessionId: string | null
  readonly providerPaymentId: string | null
  /** Null if the report does not contain the state. */
  readonly state: PaymentState | null
  /** The paid amount. Null if the report does not contain it. */
  readonly amountCents: number | null
  readonly currency: string | null
  readonly receiptUrl: string | null
  readonly reversals: readonly Reversal[]
}

type PaymentState = 'open' | 'processing' | 'paid' | 'failed' | 'expired'

/** Returned money: a refund by us, or a dispute at the bank. */
export interface Reversal {
  readonly kind: 'refund' | 'dispute'
  /** The provider's id. */
  readonly id: string
  readonly amountCents: number
  /** Whether the reversal was undone: the refund failed, or the dispute was won. Final. */
  readonly isReturned: boolean
}

export interface RefundOrder {
  readonly sessionId: string
  readonly providerPaymentId: string | null
  readonly amountCents: number
  readonly idempotencyKey: string
}

export const EMPTY_REPORT: PaymentReport = {
  paymentId: null,
  accountId: null,
  sessionId: null,
  providerPaymentId: null,
  state: null,
  amountCents: null,
  currency: null,
  receiptUrl: null,
  reversals: [],
}
