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

/** A page to pay at, or to save a payment method at. */
export interface Checkout {
  readonly sessionId: string
  readonly url: string
}
