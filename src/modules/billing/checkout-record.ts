import { parseWebAddress } from '../../kernel/parse-web-address.ts'
import type { Queryable } from '../../storage/database.ts'
import { PAYMENT_COLUMNS, paymentFromRow, type Payment, type PaymentRow } from './payment-record.ts'

/** A payment at a provider, with the provider's ids. */
export interface CheckoutRecord {
  readonly payment: Payment
  readonly provider: string
  readonly sessionId: string | null
  readonly providerPaymentId: string | null
  readonly baseUrl: string
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly expiresAtMs: number
}

interface CheckoutRow extends PaymentRow {
  readonly provider: string
  readonly session_id: string | null
  readonly provider_payment_id: string | null
  readonly base_url: string
  readonly success_url: string | null
  readonly cancel_url: string | null
  readonly expires_at: Date
}

const SELECT_CHECKOUT = `SELECT ${PAYMENT_COLUMNS}, provider, session_id, provider_payment_id, base_url, success_url,
  cancel_url, expires_at FROM checkouts JOIN payments ON payments.id = payment_id`

/** Our id or one of the provider's ids. Ours is tried first, because it is known before the provider has answered. */
export type CheckoutKey =
  | { readonly paymentId: string }
  | { readonly sessionId: string }
  | { readonly providerPaymentId: string }

export async function findCheckout(
  queryable: Queryable,
  provider: string,
  key: CheckoutKey,
): Promise<CheckoutRecord | null> {
  const [column, value] = columnOf(key)
  const [row] = await queryable.query<CheckoutRow>(
    `${SELECT_CHECKOUT} WHERE provider = $1 AND ${column} = $2 ORDER BY payments.id LIMIT 1`,
    [provider, value],
  )
  return row === undefined ? null : checkoutFromRow(row)
}

/** Locks the payment. All code that moves credit of a checkout must lock it first. */
export async function lockCheckout(transaction: Queryable, paymentId: string): Promise<CheckoutRecord> {
  const [row] = await transaction.query<CheckoutRow>(
    `${SELECT_CHECKOUT} WHERE payment_id = $1 FOR UPDATE OF payments`,
    [paymentId],
  )
  if (row === undefined) throw new Error(`checkout ${paymentId} vanished`)
  return checkoutFromRow(row)
}

export async function insertCheckout(
  transaction: Queryable,
  checkout: Omit<CheckoutRecord, 'payment' | 'sessionId' | 'providerPaymentId'> & {
    readonly paymentId: string
    /** Null if nobody has to ask the provider. */
    readonly checkAtMs: number | null
  },
): Promise<void> {
  await transaction.query(
    `INSERT INTO checkouts (payment_id, provider, base_url, success_url, cancel_url, expires_at, check_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      checkout.paymentId,
      checkout.provider,
      checkout.baseUrl,
      checkout.successUrl,
      checkout.cancelUrl,
      new Date(checkout.expiresAtMs),
      checkout.checkAtMs === null ? null : new Date(checkout.checkAtMs),
    ],
  )
}

/** Keeps stored ids: a report without an id does not erase it. */
export async function writeProviderIds(
  queryable: Queryable,
  paymentId: string,
  ids: { readonly sessionId: string | null; readonly providerPaymentId: string | null },
): Promise<void> {
  await queryable.query(
    `UPDATE checkouts SET session_id = coalesce(session_id, $2), provider_payment_id = coalesce(provider_payment_id, $3)
     WHERE payment_id = $1`,
    [paymentId, ids.sessionId, ids.providerPaymentId],
  )
}

/**
 * Claims the due checkouts and sets their next check, so that no two processes ask for the same one. Older checkouts are checked
 * less often, and no more after 30 days.
 */
export async function claimDueCheckouts(
  queryable: Queryable,
  { provider, nowMs, limit }: { provider: string; nowMs: number; limit: number },
): Promise<string[]> {
  const rows = await queryable.query<{ payment_id: string }>(
    `UPDATE checkouts SET check_at = CASE WHEN payments.created_at < $2::timestamptz - interval '30 days' THEN NULL
       ELSE $2::timestamptz + greatest(interval '1 minute', least(interval '1 hour', ($2::timestamptz - payments.created_at) / 4))
       END
     FROM payments WHERE payments.id = payment_id AND payment_id IN (
       SELECT payment_id FROM checkouts WHERE provider = $1 AND check_at <= $2
       ORDER BY check_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING payment_id`,
    [provider, new Date(nowMs), limit],
  )
  return rows.map(({ payment_id }) => payment_id)
}

/** Returns true at most once per pause, so that many waiting clients cause one provider request. */
export async function claimCheckout(
  queryable: Queryable,
  paymentId: string,
  { nowMs, pauseMs }: { nowMs: number; pauseMs: number },
): Promise<boolean> {
  const rows = await queryable.query(
    `UPDATE checkouts SET asked_at = $2 WHERE payment_id = $1 AND check_at IS NOT NULL
       AND (asked_at IS NULL OR asked_at <= $3) RETURNING payment_id`,
    [paymentId, new Date(nowMs), new Date(nowMs - pauseMs)],
  )
  return rows.length > 0
}

function columnOf(key: CheckoutKey): [column: string, value: string] {
  if ('paymentId' in key) return ['payment_id', key.paymentId]
  if ('sessionId' in key) return ['session_id', key.sessionId]
  return ['provider_payment_id', key.providerPaymentId]
}

function checkoutFromRow(row: CheckoutRow): CheckoutRecord {
  return {
    payment: paymentFromRow(row),
    provider: row.provider,
    sessionId: row.session_id,
    providerPaymentId: row.provider_payment_id,
    baseUrl: row.base_url,
    successUrl: toLocation(row.success_url),
    cancelUrl: toLocation(row.cancel_url),
    expiresAtMs: row.expires_at.getTime(),
  }
}

/** Earlier releases accepted characters outside ASCII, which headers must not contain. They are encoded like in a browser. */
function toLocation(address: string | null): string | null {
  if (address === null || parseWebAddress(address) !== null) return address
  return URL.canParse(address) ? (parseWebAddress(new URL(address).href)?.href ?? null) : null
}
