import type { Queryable } from '../../../storage/database.ts'
import { toArray } from '../journal/array-text.ts'
import type { HoldOrder } from './stored-hold.ts'

/** A hold without caps, to be opened with many others. */
export type PlainHoldOrder = Omit<HoldOrder, 'caps'>

/**
 * Opens all holds that the accounts cover, in two statements for any number of them, and returns their keys. Call `openHold`
 * for the rest: it handles caps and explains a refusal. The keys must be new.
 */
export async function openHolds(
  transaction: Queryable,
  orders: readonly PlainHoldOrder[],
): Promise<ReadonlySet<string>> {
  const accountIds = [...new Set(orders.map(({ accountId }) => accountId))]
  await transaction.query(LOCK, [toArray(accountIds, (id) => id)])
  const rows = await transaction.query<{ key: string }>(OPEN, [
    orders.map(({ key }) => key),
    toArray(orders, ({ accountId }) => accountId),
    toArray(orders, ({ amountNanoUsd }) => amountNanoUsd),
    toArray(orders, ({ expiresAtMs }) => expiresAtMs),
  ])
  return new Set(rows.map(({ key }) => key))
}

// Locked in one order to avoid deadlocks between batches.
const LOCK = `
  SELECT FROM credit_accounts WHERE account_id = ANY ($1::uuid[]) ORDER BY account_id FOR UPDATE`

// Lines up the orders of an account and its lots by running totals; where two ranges overlap, the lot pays for the order.
const OPEN = `
  WITH asked AS (
    SELECT key, asked.account_id, amount, to_timestamp(expires_at_ms / 1000.0) AS expires_at,
      sum(amount) OVER (PARTITION BY asked.account_id ORDER BY number) AS upto
    FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
      AS asked (key, account_id, amount, expires_at_ms, number)
    JOIN credit_accounts account ON account.account_id = asked.account_id AND account.debt_nano_usd = 0
    WHERE NOT EXISTS (SELECT FROM spend_budgets WHERE spend_budgets.account_id = asked.account_id)
      AND NOT EXISTS (
        SELECT FROM budgets WHERE budgets.account_id = asked.account_id AND deleted_at IS NULL AND is_hard)
  ), lots AS (
    SELECT id, account_id, remaining_nano_usd AS amount,
      sum(remaining_nano_usd) OVER (PARTITION BY account_id ORDER BY class = 'paid', expires_at NULLS LAST, id) AS upto
    FROM credit_lots
    WHERE account_id = ANY ($2::uuid[]) AND remaining_nano_usd > 0 AND (expires_at IS NULL OR expires_at > now())
  ), covered AS (
    SELECT * FROM asked
    WHERE upto <= coalesce((SELECT max(lots.upto) FROM lots WHERE lots.account_id = asked.account_id), 0)
  ), parts AS (
    SELECT key, covered.account_id, lots.id AS lot_id,
      (least(covered.upto, lots.upto) - greatest(covered.upto - covered.amount, lots.upto - lots.amount))::bigint AS amount
    FROM covered JOIN lots ON lots.account_id = covered.account_id
      AND lots.upto > covered.upto - covered.amount AND lots.upto - lots.amount < covered.upto
    WHERE covered.amount > 0
  ), held AS (
    INSERT INTO credit_holds (key, account_id, amount_nano_usd, expires_at)
    SELECT key, account_id, amount, expires_at FROM covered RETURNING key
  ), leased AS (
    INSERT INTO credit_leases (account_id, hold_key, lot_id, amount_nano_usd)
    SELECT account_id, key, lot_id, amount FROM parts
  ), taken AS (
    UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd - taken.amount
    FROM (SELECT lot_id, sum(amount)::bigint AS amount FROM parts GROUP BY lot_id) AS taken
    WHERE credit_lots.id = taken.lot_id
  )
  SELECT key FROM held`
