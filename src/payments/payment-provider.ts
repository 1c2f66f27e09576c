/**
 * What takes people's money. A provider is asked for a page to pay at, and tells, by webhook or when asked, what has become of
 * the payment. It decides nothing about credit.
 */
export interface PaymentProvider {
  readonly name: string
  /** Money that nobody pays. */
  readonly isTestMode: boolean
  /** What a browser needs to talk to the provider itself; null where it never does. */
  readonly publishableKey: string | null
  /** Why nobody can pay here, in words for a client; null when all is well. */
  readonly problem: string | null

  /** A page to pay at. The same order is the same page, however often it is asked for. */
  createCheckout(order: CheckoutOrder): Promise<Checkout>
  /** What has become of a checkout, as the provider knows it now. */
  readCheckout(sessionId: string): Promise<PaymentReport>
  /** The same by the provider's own id of the payment. */
  readPayment(providerPaymentId: string): Promise<PaymentReport>
  /** Checks who sent it before reading it. Throws an `AppError` for a forged or stale one. */
  readWebhook(webhook: Webhook): Promise<PaymentNotice>
  /** Gives money back. The same idempotency key gives it back once. */
  refund(order: RefundOrder): Promise<PaymentReport>
  /** Only of a provider whose page the gateway serves: the session that the secret in the page's address opens. */
  readonly sessionOfToken?: (token: string) => string
}

export interface CheckoutOrder {
  /** Ours, and the idempotency key. */
  readonly paymentId: string
  readonly accountId: string
  readonly amountCents: number
  /** Where the gateway serves its own pages. */
  readonly baseUrl: string
  /** Null for the gateway's own page. */
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly expiresAtMs: number
}

export interface Checkout {
  readonly sessionId: string
  readonly url: string
}

export interface Webhook {
  /** As it came: the signature is over these bytes. */
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface PaymentNotice {
  readonly eventId: string
  readonly type: string
  /** Null for an event that says nothing of a payment of ours. */
  readonly report: PaymentReport | null
}

/**
 * What a provider says of one payment. Reports may come twice and in any order: each is true from some moment on, and
 * applying an older one after a newer one changes nothing.
 */
export interface PaymentReport {
  /** Ours, as the provider was told; null when it did not say. */
  readonly paymentId: string | null
  readonly accountId: string | null
  readonly sessionId: string | null
  readonly providerPaymentId: string | null
  /** Null when the report is about something else. */
  readonly state: PaymentState | null
  /** What was paid; null when the report does not say. */
  readonly amountCents: number | null
  readonly currency: string | null
  readonly receiptUrl: string | null
  readonly reversals: readonly Reversal[]
}

type PaymentState = 'open' | 'processing' | 'paid' | 'failed' | 'expired'

/** Money that went back: refunded by us, or taken by a bank in a dispute. */
export interface Reversal {
  readonly kind: 'refund' | 'dispute'
  /** The provider's. */
  readonly id: string
  readonly amountCents: number
  /** It came to nothing: the refund failed, the dispute was won. Final. */
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
