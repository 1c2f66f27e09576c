import type { Checkout, PaymentReport } from './payment-report.ts'

/** The part of a payment provider that saves a payment method of a person, and charges it while nobody is present. */
export interface SavedMethods {
  /** Creates a page where a person saves a payment method. */
  createSetup(order: SetupOrder): Promise<SetupPage>
  /** Returns the current state of such a page at the provider. */
  readSetup(sessionId: string): Promise<SetupReport>
  /** Charges a saved method. The same payment is charged once, for as long as `repeatableMs` says. */
  charge(order: SavedCharge): Promise<ChargeReport>
  /** How long the provider surely remembers which payments were charged. */
  readonly repeatableMs: number
  /** Returns the charge of a payment without making one. Null if there is none. */
  findCharge(order: SavedCharge): Promise<ChargeReport | null>
  /** Makes the provider forget a method. It does not fail if the method is gone. */
  remove(methodId: string): Promise<void>
}

export interface SetupOrder {
  /** Our id of the setup. */
  readonly setupId: string
  readonly accountId: string
  /** The provider's id of the account, from an earlier setup. Null for the first one. */
  readonly customerId: string | null
  readonly baseUrl: string
  /** Null uses the gateway's own page. */
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly expiresAtMs: number
}

export interface SetupPage extends Checkout {
  readonly customerId: string
}

export interface SetupReport {
  /** As given to the provider. Null if the report does not contain it. */
  readonly setupId: string | null
  readonly accountId: string | null
  readonly state: 'open' | 'saved' | 'expired'
  /** Null until it is saved. */
  readonly method: SavedMethod | null
}

export interface SavedMethod {
  readonly customerId: string
  readonly methodId: string
  /** `visa` */
  readonly brand: string
  readonly last4: string
  readonly expiryMonth: number | null
  readonly expiryYear: number | null
}

export interface SavedCharge {
  /** Our id of the payment, also the idempotency key. */
  readonly paymentId: string
  readonly accountId: string
  readonly customerId: string
  readonly methodId: string
  readonly amountCents: number
  /** When it was decided. */
  readonly createdAtMs: number
  /** Null until the provider has told it. */
  readonly providerPaymentId: string | null
}

export interface ChargeReport {
  readonly report: PaymentReport
  /** Why nothing was paid. Null if it was paid, or will be known later. */
  readonly decline: Decline | null
}

export interface Decline {
  /** As the provider calls it: `insufficient_funds`. */
  readonly code: string
  /** Whether trying again cannot help. */
  readonly isFinal: boolean
}
