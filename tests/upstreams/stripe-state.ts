import { eventOf, membersOf, nextId, type StripeEvent, type StripeObject } from './stripe-objects.ts'
import { StripeSavedMethods } from './stripe-saved-methods.ts'

/** The objects of a Stripe account. Each method returns the events that Stripe would send. */
export class StripeState {
  readonly sessions = new Map<string, StripeObject>()
  readonly #intents = new Map<string, StripeObject>()
  readonly #charges = new Map<string, StripeObject>()
  readonly #refunds = new Map<string, StripeObject>()
  /** Customers and their payment methods. */
  readonly saved = new StripeSavedMethods()

  createSession(params: URLSearchParams): StripeObject {
    const id = nextId('cs_test')
    const session = {
      id,
      object: 'checkout.session',
      mode: params.get('mode'),
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      setup_intent: null,
      customer: params.get('customer'),
      amount_total: Number(params.get('line_items[0][price_data][unit_amount]')),
      currency: params.get('line_items[0][price_data][currency]'),
      client_reference_id: params.get('client_reference_id'),
      metadata: membersOf(params, 'metadata'),
      expires_at: Number(params.get('expires_at')),
      success_url: params.get('success_url'),
      cancel_url: params.get('cancel_url'),
      url: `https://checkout.stripe.com/c/pay/${id}`,
      intent_metadata: membersOf(params, 'payment_intent_data[metadata]'),
    }
    this.sessions.set(id, session)
    return session
  }

  readSession(id: string, params: URLSearchParams): StripeObject | null {
    const session = this.sessions.get(id)
    if (session === undefined) return null
    if (session['mode'] === 'setup')
      return { ...session, setup_intent: this.saved.expandSetup(session['setup_intent']) }
    const isExpanded = [...params.values()].includes('payment_intent.latest_charge')
    if (!isExpanded || session['payment_intent'] === null) return session
    return { ...session, payment_intent: this.#expandIntent(session['payment_intent']) }
  }

  readIntent(id: string, params: URLSearchParams): StripeObject | null {
    const intent = this.#intents.get(id)
    if (intent === undefined) return null
    return [...params.values()].includes('latest_charge') ? this.#expandIntent(id) : intent
  }

  listIntents(params: URLSearchParams): StripeObject {
    const data = [...this.#intents.values()]
      .filter(({ customer }) => customer === params.get('customer'))
      .map(({ id }) => this.#expandIntent(id))
    return { object: 'list', url: '/v1/payment_intents', has_more: false, data }
  }

  /** How often saved methods were charged with success. */
  get savedCharges(): StripeObject[] {
    return [...this.#intents.values()].filter(
      ({ customer, status }) => customer !== undefined && status === 'succeeded',
    )
  }

  /** The person enters a card on the page of a session in setup mode. */
  saveCard(sessionId: string, decline: string | null = null): StripeEvent {
    const session = this.#session(sessionId)
    session['status'] = 'complete'
    session['setup_intent'] = this.saved.setUp(session['customer'], decline)
    return eventOf('checkout.session.completed', session)
  }

  /** Creates a PaymentIntent that is confirmed at once, off session. */
  chargeSaved(
    params: URLSearchParams,
  ): { intent: StripeObject; decline: string | null } | { error: StripeObject } {
    const method = params.get('payment_method') ?? ''
    const customer = params.get('customer')
    if (params.get('off_session') !== 'true' || params.get('confirm') !== 'true')
      return {
        error: { type: 'invalid_request_error', message: 'The local server charges off session only.' },
      }
    if (customer === null || this.saved.methodOf(method)?.['customer'] !== customer)
      return {
        error: {
          type: 'invalid_request_error',
          code: 'resource_missing',
          message: 'The payment method is not attached to the customer.',
        },
      }
    const intent: StripeObject = {
      id: nextId('pi'),
      object: 'payment_intent',
      amount: Number(params.get('amount')),
      amount_received: 0,
      currency: params.get('currency'),
      customer,
      payment_method: method,
      status: 'requires_payment_method',
      latest_charge: null,
      last_payment_error: null,
      metadata: membersOf(params, 'metadata'),
    }
    this.#intents.set(intent['id'], intent)
    const decline = this.saved.declineOf(method)
    if (decline === null) this.#chargeIntent(intent)
    return { intent: decline === null ? this.#expandIntent(intent['id']) : intent, decline }
  }

  /** The event that tells of the charge of a saved method. */
  chargeEvent(intentId: string): StripeEvent {
    return eventOf('charge.succeeded', this.#chargeOf(intentId))
  }

  listRefunds(chargeId: string): StripeObject {
    const data = [...this.#refunds.values()].filter(({ charge }) => charge === chargeId)
    return { object: 'list', url: '/v1/refunds', has_more: false, data }
  }

  chargeIdOf(intentId: string): string {
    return this.#chargeOf(intentId)['id']
  }

  createRefund(intentId: string, amount: number): StripeObject | null {
    const charge = this.#chargeOf(intentId)
    if (charge['amount_refunded'] + amount > charge['amount']) return null
    const refund = {
      id: nextId('re'),
      object: 'refund',
      amount,
      charge: charge['id'],
      payment_intent: intentId,
      currency: 'usd',
      status: 'succeeded',
      metadata: {},
    }
    this.#refunds.set(refund.id, refund)
    charge['amount_refunded'] += amount
    charge['refunded'] = charge['amount_refunded'] === charge['amount']
    return refund
  }

  /** Pays by card: the money has arrived when the session completes. */
  pay(sessionId: string): { completed: StripeEvent; succeeded: StripeEvent; intentId: string } {
    const session = this.#complete(sessionId)
    const charge = this.#charge(session)
    return {
      completed: eventOf('checkout.session.completed', session),
      succeeded: eventOf('charge.succeeded', charge),
      intentId: session['payment_intent'],
    }
  }

  /** Pays by bank debit: the session completes before the money moves. */
  payLater(sessionId: string): StripeEvent {
    const session = this.#complete(sessionId)
    return eventOf('checkout.session.completed', session)
  }

  settleLater(sessionId: string, outcome: 'succeeded' | 'failed'): StripeEvent {
    const session = this.#session(sessionId)
    const intent = this.#intents.get(session['payment_intent']) ?? {}
    if (outcome === 'succeeded') this.#charge(session)
    else intent['status'] = 'requires_payment_method'
    return eventOf(`checkout.session.async_payment_${outcome}`, session)
  }

  expire(sessionId: string): StripeEvent {
    const session = this.#session(sessionId)
    session['status'] = 'expired'
    return eventOf('checkout.session.expired', session)
  }

  refund(intentId: string, amount: number): { refunded: StripeEvent; created: StripeEvent; id: string } {
    const refund = this.createRefund(intentId, amount)
    if (refund === null) throw new Error('more than is left')
    return {
      refunded: eventOf('charge.refunded', this.#chargeOf(intentId)),
      created: eventOf('refund.created', refund),
      id: refund['id'],
    }
  }

  failRefund(refundId: string): StripeEvent {
    const refund = this.#refunds.get(refundId) ?? {}
    const charge = this.#charges.get(refund['charge']) ?? {}
    refund['status'] = 'failed'
    charge['amount_refunded'] -= refund['amount']
    charge['refunded'] = false
    return eventOf('refund.failed', refund)
  }

  dispute(intentId: string, amount: number, status = 'needs_response'): StripeDispute {
    const dispute: StripeObject = {
      id: nextId('dp'),
      object: 'dispute',
      amount,
      charge: this.#chargeOf(intentId)['id'],
      payment_intent: intentId,
      currency: 'usd',
      reason: 'fraudulent',
      status,
      metadata: {},
    }
    return {
      created: eventOf('charge.dispute.created', dispute),
      change: (type, next) => eventOf(type, { ...dispute, status: next }),
    }
  }

  #complete(sessionId: string): StripeObject {
    const session = this.#session(sessionId)
    const intent = {
      id: nextId('pi'),
      object: 'payment_intent',
      amount: session['amount_total'],
      amount_received: 0,
      currency: 'usd',
      status: 'processing',
      latest_charge: null,
      metadata: session['intent_metadata'],
    }
    this.#intents.set(intent.id, intent)
    session['status'] = 'complete'
    session['payment_intent'] = intent.id
    return session
  }

  #charge(session: StripeObject): StripeObject {
    session['payment_status'] = 'paid'
    return this.#chargeIntent(this.#intents.get(session['payment_intent']) ?? {})
  }

  #chargeIntent(intent: StripeObject): StripeObject {
    const id = nextId('ch')
    const charge = {
      id,
      object: 'charge',
      amount: intent['amount'],
      amount_refunded: 0,
      refunded: false,
      paid: true,
      status: 'succeeded',
      currency: 'usd',
      payment_intent: intent['id'],
      metadata: { ...intent['metadata'] },
      receipt_url: `https://pay.stripe.com/receipts/${id}`,
    }
    this.#charges.set(id, charge)
    intent['status'] = 'succeeded'
    intent['amount_received'] = intent['amount']
    intent['latest_charge'] = id
    return charge
  }

  #session(id: string): StripeObject {
    const session = this.sessions.get(id)
    if (session === undefined) throw new Error(`no session ${id}`)
    return session
  }

  #chargeOf(intentId: string): StripeObject {
    const charge = this.#charges.get(this.#intents.get(intentId)?.['latest_charge'])
    if (charge === undefined) throw new Error(`nothing was charged by ${intentId}`)
    return charge
  }

  #expandIntent(id: string): StripeObject {
    const intent = this.#intents.get(id) ?? {}
    return { ...intent, latest_charge: this.#charges.get(intent['latest_charge']) ?? null }
  }
}

export interface StripeDispute {
  readonly created: StripeEvent
  change(type: string, status: string): StripeEvent
}
