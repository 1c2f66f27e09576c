import type Stripe from 'stripe'
import { AppError } from '../../kernel/app-error.ts'
import { EMPTY_REPORT } from '../payment-provider.ts'
import type {
  ChargeReport,
  Decline,
  SavedCharge,
  SavedMethod,
  SavedMethods,
  SetupOrder,
  SetupPage,
  SetupReport,
} from '../saved-methods.ts'
import { metadataOf, readOrderMetadata, readSetupMetadata, setupMetadataOf } from './order-metadata.ts'

type CallStripe = <Result>(work: (stripe: Stripe) => Promise<Result>) => Promise<Result>

/** Stripe forgets idempotency keys after a day at the earliest. */
const REPEATABLE_MS = 20 * 60 * 60_000
/** The clocks of Stripe and of the database may differ. */
const CLOCKS_DIFFER_SECONDS_MAX = 3_600
const INTENTS_READ_MAX = 1_000

/** Cards that are saved by Checkout in setup mode, and charged by PaymentIntents off session. */
export function createStripeSavedMethods(call: CallStripe): SavedMethods {
  return {
    createSetup: (order) => call((stripe) => createSetup(stripe, order)),
    readSetup: (sessionId) => call((stripe) => readSetup(stripe, sessionId)),
    charge: (order) => call((stripe) => charge(stripe, order)),
    repeatableMs: REPEATABLE_MS,
    findCharge: (order) => call((stripe) => findCharge(stripe, order)),
    remove: (methodId) => call((stripe) => remove(stripe, methodId)),
  }
}

/** A repeated call returns the first page, because our id is the idempotency key. */
async function createSetup(stripe: Stripe, order: SetupOrder): Promise<SetupPage> {
  const metadata = setupMetadataOf(order)
  const idempotencyKey = `setup:${order.setupId}`
  const customerId =
    order.customerId ??
    (await stripe.customers.create({ metadata }, { idempotencyKey: `${idempotencyKey}:customer` })).id
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'setup',
      currency: 'usd',
      customer: customerId,
      // Other methods settle after days, and a top-up is for now.
      allowed_payment_method_types: ['card'],
      client_reference_id: order.setupId,
      metadata,
      setup_intent_data: { metadata },
      success_url:
        order.successUrl ?? `${order.baseUrl}/checkout/stripe/return?session_id={CHECKOUT_SESSION_ID}`,
      ...(order.cancelUrl === null ? {} : { cancel_url: order.cancelUrl }),
      expires_at: Math.floor(order.expiresAtMs / 1000),
    },
    { idempotencyKey },
  )
  if (session.url === null) throw new AppError('provider_error', 'Stripe gave no page to save a card at.')
  return { sessionId: session.id, url: session.url, customerId }
}

async function readSetup(stripe: Stripe, sessionId: string): Promise<SetupReport> {
  const session = await stripe.checkout.sessions.retrieve(sessionId, {
    expand: ['setup_intent.payment_method'],
  })
  const known = readSetupMetadata(session.metadata)
  if (session.status === 'expired') return { ...known, state: 'expired', method: null }
  const intent = session.setup_intent
  if (session.status !== 'complete' || typeof intent !== 'object' || intent?.status !== 'succeeded')
    return { ...known, state: 'open', method: null }
  const method = methodOf(intent)
  return method === null ? { ...known, state: 'open', method } : { ...known, state: 'saved', method }
}

function methodOf({ customer, payment_method: method }: Stripe.SetupIntent): SavedMethod | null {
  const customerId = typeof customer === 'string' ? customer : (customer?.id ?? null)
  if (customerId === null || method === null || typeof method === 'string') return null
  return {
    customerId,
    methodId: method.id,
    brand: method.card?.brand ?? method.type,
    last4: method.card?.last4 ?? '',
    expiryMonth: method.card?.exp_month ?? null,
    expiryYear: method.card?.exp_year ?? null,
  }
}

async function charge(stripe: Stripe, order: SavedCharge): Promise<ChargeReport> {
  try {
    const intent = await stripe.paymentIntents.create(
      {
        amount: order.amountCents,
        currency: 'usd',
        customer: order.customerId,
        payment_method: order.methodId,
        allowed_payment_method_types: ['card'],
        off_session: true,
        confirm: true,
        description: 'Prepaid credit, automatic top-up',
        metadata: metadataOf(order),
        expand: ['latest_charge'],
      },
      { idempotencyKey: `auto-top-up:${order.paymentId}` },
    )
    return reportIntent(intent)
  } catch (error) {
    const decline = await readDecline(error)
    if (decline === null) throw error
    return { report: { ...EMPTY_REPORT, state: 'failed' }, decline }
  }
}

/** Lists what the customer paid since, because a search by metadata may miss what is new. */
async function findCharge(stripe: Stripe, order: SavedCharge): Promise<ChargeReport | null> {
  const expand = ['latest_charge']
  if (order.providerPaymentId !== null)
    return reportIntent(await stripe.paymentIntents.retrieve(order.providerPaymentId, { expand }))
  const since = Math.floor(order.createdAtMs / 1_000) - CLOCKS_DIFFER_SECONDS_MAX
  const intents = stripe.paymentIntents.list({
    customer: order.customerId,
    created: { gte: since },
    limit: 100,
    expand: ['data.latest_charge'],
  })
  let read = 0
  for await (const intent of intents) {
    if (readOrderMetadata(intent.metadata).paymentId === order.paymentId) return reportIntent(intent)
    read += 1
    if (read >= INTENTS_READ_MAX) break
  }
  return null
}

function reportIntent(intent: Stripe.PaymentIntent): ChargeReport {
  const latest = intent.latest_charge
  const state =
    intent.status === 'succeeded' ? 'paid' : intent.status === 'processing' ? 'processing' : 'failed'
  return {
    report: {
      ...EMPTY_REPORT,
      ...readOrderMetadata(intent.metadata),
      providerPaymentId: intent.id,
      state,
      amountCents: state === 'paid' ? intent.amount_received : intent.amount,
      currency: intent.currency,
      receiptUrl: typeof latest === 'object' ? (latest?.receipt_url ?? null) : null,
    },
    decline: state === 'failed' ? declineOf(intent.last_payment_error ?? {}) : null,
  }
}

/** Null for an error that is no answer of a bank. */
async function readDecline(error: unknown): Promise<Decline | null> {
  const { default: StripeClient } = await import('stripe')
  return error instanceof StripeClient.errors.StripeCardError ? declineOf(error) : null
}

interface DeclineCodes {
  readonly code?: string | undefined
  readonly decline_code?: string | undefined
  readonly advice_code?: string | undefined
}

function declineOf({ code, decline_code: declineCode, advice_code: advice }: DeclineCodes): Decline {
  const told = declineCode ?? code ?? 'card_declined'
  return {
    code: SECRET_CODES.has(told) ? 'card_declined' : told,
    isFinal: FINAL_CODES.has(told) || SECRET_CODES.has(told) || FINAL_ADVICE.has(advice ?? ''),
  }
}

/** Stripe asks not to tell these, because they would help whoever uses a card that is not theirs. */
const SECRET_CODES: ReadonlySet<string> = new Set([
  'fraudulent',
  'lost_card',
  'merchant_blacklist',
  'pickup_card',
  'stolen_card',
])

const FINAL_CODES: ReadonlySet<string> = new Set([
  'authentication_required',
  'card_not_supported',
  'expired_card',
  'invalid_account',
  'new_account_information_available',
  'restricted_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'security_violation',
  'stop_payment_order',
])

const FINAL_ADVICE: ReadonlySet<string> = new Set(['confirm_card_data', 'do_not_try_again'])

async function remove(stripe: Stripe, methodId: string): Promise<void> {
  try {
    await stripe.paymentMethods.detach(methodId)
  } catch (error) {
    const { default: StripeClient } = await import('stripe')
    // It is detached already, or Stripe does not know it any more.
    if (!(error instanceof StripeClient.errors.StripeInvalidRequestError)) throw error
  }
}
