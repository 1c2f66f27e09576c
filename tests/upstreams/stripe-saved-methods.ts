import { membersOf, nextId, type StripeObject } from './stripe-objects.ts'

/** The customers of a Stripe account, and the cards that they saved. */
export class StripeSavedMethods {
  readonly customers = new Map<string, StripeObject>()
  readonly #methods = new Map<string, StripeObject>()
  readonly #setups = new Map<string, StripeObject>()
  readonly #declines = new Map<string, string>()

  createCustomer(params: URLSearchParams): StripeObject {
    const customer = { id: nextId('cus'), object: 'customer', metadata: membersOf(params, 'metadata') }
    this.customers.set(customer.id, customer)
    return customer
  }

  /** Saves a card and returns the id of its SetupIntent. Charges of it are declined with the code. */
  setUp(customerId: string, decline: string | null): string {
    const method = {
      id: nextId('pm'),
      object: 'payment_method',
      type: 'card',
      customer: customerId,
      card: { brand: 'visa', last4: decline === null ? '4242' : '0341', exp_month: 4, exp_year: 2042 },
    }
    this.#methods.set(method.id, method)
    if (decline !== null) this.#declines.set(method.id, decline)
    const setup = {
      id: nextId('seti'),
      object: 'setup_intent',
      status: 'succeeded',
      usage: 'off_session',
      customer: customerId,
      payment_method: method.id,
    }
    this.#setups.set(setup.id, setup)
    return setup.id
  }

  expandSetup(id: string | null): StripeObject | null {
    const setup = id === null ? undefined : this.#setups.get(id)
    return setup === undefined ? null : { ...setup, payment_method: this.methodOf(setup['payment_method']) }
  }

  methodOf(id: string): StripeObject | null {
    return this.#methods.get(id) ?? null
  }

  /** Every card that is attached to a customer. */
  get attached(): StripeObject[] {
    return [...this.#methods.values()].filter(({ customer }) => customer !== null)
  }

  /** Returns false if it is attached to nobody. */
  detach(id: string): boolean {
    const method = this.methodOf(id)
    if (method === null || method['customer'] === null) return false
    method['customer'] = null
    return true
  }

  /** From now on, charges of a card are declined, or not. */
  decline(id: string, code: string | null): void {
    if (code === null) this.#declines.delete(id)
    else this.#declines.set(id, code)
  }

  declineOf(id: string): string | null {
    return this.#declines.get(id) ?? null
  }
}
