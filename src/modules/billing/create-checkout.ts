import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import { parseWebAddress } from '../../kernel/parse-web-address.ts'
import type { Checkout, PaymentProvider } from '../../payments/payment-provider.ts'
import type { Database } from '../../storage/database.ts'
import { centsFromNanoUsd } from './cents.ts'
import { insertCheckout, writeProviderIds, type CheckoutRecord } from './checkout-record.ts'
import { insertPayment, type Payment } from './payment-record.ts'

export const CHECKOUT_NANO_USD_MIN = 1_000_000_000n
export const CHECKOUT_NANO_USD_MAX = 10_000_000_000_000n

const CHECKOUT_MS = 3_600_000
const CHECK_AFTER_MS = 60_000
const OPEN_CHECKOUTS_MAX = 100
const URL_LENGTH_MAX = 2048

export interface CheckoutRequest {
  readonly accountId: string
  readonly amountNanoUsd: NanoUsd
  /** The address of the gateway's own pages. */
  readonly baseUrl: string
  readonly successUrl: string | null
  readonly cancelUrl: string | null
}

export interface OpenedCheckout {
  readonly payment: Payment
  readonly url: string
  readonly expiresAtMs: number
}

/** Stores the payment before it calls the provider, because the webhook may arrive before the provider's response. */
export async function createCheckout(
  { database, clock, provider }: { database: Database; clock: Clock; provider: PaymentProvider },
  request: CheckoutRequest,
): Promise<OpenedCheckout> {
  requireAmount(request.amountNanoUsd)
  requireWebAddress('success_url', request.successUrl)
  requireWebAddress('cancel_url', request.cancelUrl)
  const nowMs = clock.nowMs()
  await requireFewOpen(database, request.accountId, nowMs)
  const checkout = await storeCheckout(database, provider.name, request, nowMs)
  const { payment, expiresAtMs } = checkout
  const { url, sessionId } = await openAtProvider(provider, checkout).catch(async (error: unknown) => {
    // After any error but a refusal, the checkout may exist at the provider. The sweep checks that.
    if (error instanceof AppError && error.code === 'provider_error') await failCheckout(database, payment.id)
    throw error
  })
  await writeProviderIds(database, payment.id, { sessionId, providerPaymentId: null })
  return { payment, url, expiresAtMs }
}

/** Opens the checkout at the provider. A repeated call returns the same page. */
export async function openAtProvider(provider: PaymentProvider, checkout: CheckoutRecord): Promise<Checkout> {
  const { payment, baseUrl, successUrl, cancelUrl, expiresAtMs } = checkout
  return provider.createCheckout({
    paymentId: payment.id,
    accountId: payment.accountId,
    amountCents: centsFromNanoUsd(payment.amountNanoUsd) ?? 0,
    baseUrl,
    successUrl,
    cancelUrl,
    expiresAtMs,
  })
}

export async function failCheckout(database: Database, paymentId: string): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(
      `UPDATE payments SET status = 'failed' WHERE id = $1 AND status IN ('pending', 'processing')`,
      [paymentId],
    )
    await transaction.query('UPDATE checkouts SET check_at = NULL WHERE payment_id = $1', [paymentId])
  })
}

async function storeCheckout(
  database: Database,
  provider: string,
  { accountId, amountNanoUsd, baseUrl, successUrl, cancelUrl }: CheckoutRequest,
  nowMs: number,
): Promise<CheckoutRecord> {
  const expiresAtMs = nowMs + CHECKOUT_MS
  const details = { provider, baseUrl, successUrl, cancelUrl, expiresAtMs }
  const payment = await database.transaction(async (transaction) => {
    const inserted = await insertPayment(transaction, {
      id: createId(nowMs),
      accountId,
      kind: 'checkout',
      amountNanoUsd,
      status: 'pending',
      nowMs,
    })
    if (inserted === null) throw new Error('an inserted payment was not returned')
    await insertCheckout(transaction, {
      ...details,
      paymentId: inserted.id,
      checkAtMs: nowMs + CHECK_AFTER_MS,
    })
    return inserted
  })
  return { ...details, payment, sessionId: null, providerPaymentId: null }
}

function requireAmount(amountNanoUsd: NanoUsd): void {
  const isWithin = amountNanoUsd >= CHECKOUT_NANO_USD_MIN && amountNanoUsd <= CHECKOUT_NANO_USD_MAX
  if (isWithin && centsFromNanoUsd(amountNanoUsd) !== null) return
  throw invalidValue(
    'amount_usd',
    `amount_usd must be from ${formatUsd(CHECKOUT_NANO_USD_MIN)} to ${formatUsd(CHECKOUT_NANO_USD_MAX)}, in whole cents.`,
  )
}

// Only web addresses are allowed in a link for customers: `javascript:` would run in the page.
export function requireWebAddress(param: string, text: string | null): void {
  if (text === null) return
  if (text.length <= URL_LENGTH_MAX && parseWebAddress(text) !== null) return
  throw invalidValue(param, `${param} must be an http or https URL in ASCII.`)
}

async function requireFewOpen(database: Database, accountId: string, nowMs: number): Promise<void> {
  const [row] = await database.query<{ open: bigint; first_ends_at: Date | null }>(
    `SELECT count(*) AS open, min(expires_at) AS first_ends_at FROM payments JOIN checkouts ON payment_id = payments.id
     WHERE account_id = $1 AND status = 'pending' AND expires_at > $2`,
    [accountId, new Date(nowMs)],
  )
  if (row === undefined || row.first_ends_at === null || row.open < OPEN_CHECKOUTS_MAX) return
  throw new AppError('rate_limit_exceeded', 'Too many checkouts of this account are waiting to be paid.', {
    retryAfterSeconds: (row.first_ends_at.getTime() - nowMs) / 1000,
  })
}
