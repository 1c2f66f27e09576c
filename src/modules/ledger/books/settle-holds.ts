import type { Queryable } from '../../../storage/database.ts'
import { toArray } from '../journal/array-text.ts'
import { payDebt } from './lock-account.ts'
import { HoldClosed, type SettleOrder } from './stored-hold.ts'
import { recordUsage } from './record-usage.ts'

/**
 * Does what `settleHold` does for many holds in a few statements. Settles all of them, or throws and settles none. Each must
 * be open, or already settled with the same amount.
 */
export async function settleHolds(transaction: Queryable, orders: readonly SettleOrder[]): Promise<void> {
  const writer = orders[0]?.usage.writer
  if (writer === undefined) return
  const keys = orders.map(({ key }) => key)
  const accounts = await transaction.query<{ account_id: string; debt_nano_usd: bigint }>(LOCK, [keys])
  const closed = await transaction.query<{ key: string; promotional: bigint }>(SETTLE, [
    keys,
    toArray(orders, ({ chargedNanoUsd }) => chargedNanoUsd),
    orders.map(({ reason }) => reason),
    orders.map(({ usage }) => usage.record.keyId),
    orders.map(({ usage }) => usage.record.model),
  ])
  const promotional = new Map(closed.map((row) => [row.key, row.promotional]))
  if (closed.length < orders.length) {
    await requireSettled(
      transaction,
      orders.filter(({ key }) => !promotional.has(key)),
    )
  }
  const charges = orders
    .filter(({ key }) => promotional.has(key))
    .map(({ key, chargedNanoUsd, uncoveredNanoUsd = 0n, usage }) => ({
      record: usage.record,
      costNanoUsd: chargedNanoUsd,
      promotionalNanoUsd: promotional.get(key) ?? 0n,
      uncoveredNanoUsd,
    }))
  await recordUsage(transaction, { writer, charges })
  for (const { account_id: accountId, debt_nano_usd: debt } of accounts)
    if (debt > 0n) await payDebt(transaction, accountId)
}

async function requireSettled(transaction: Queryable, orders: readonly SettleOrder[]): Promise<void> {
  const rows = await transaction.query<{ key: string; status: string; charged_nano_usd: bigint }>(
    'SELECT key, status, charged_nano_usd FROM credit_holds WHERE key = ANY ($1)',
    [orders.map(({ key }) => key)],
  )
  for (const { key, chargedNanoUsd } of orders) {
    const row = rows.find((candidate) => candidate.key === key)
    if (row?.status === 'settled' && row.charged_nano_usd === chargedNanoUsd) continue
    throw new HoldClosed(`the hold '${key}' was ${row?.status ?? 'never opened'}`)
  }
}

// Locked in one order to avoid deadlocks between batches.
const LOCK = `
  SELECT account_id, debt_nano_usd FROM credit_accounts
  WHERE account_id IN (SELECT account_id FROM credit_holds WHERE key = ANY ($1))
  ORDER BY account_id FOR UPDATE`

// The leases end in this statement, so their spent amount is stored only in the entries and the lots.
const SETTLE = `
  WITH asked AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::uuid[], $5::text[]) AS asked (key, charged, reason, key_id, model)
  ), closed AS (
    UPDATE credit_holds hold SET status = 'settled', charged_nano_usd = asked.charged, closed_at = now()
    FROM asked WHERE hold.key = asked.key AND hold.status = 'open'
    RETURNING hold.key, hold.account_id, asked.charged, asked.reason, asked.key_id, asked.model
  ), ended AS (
    DELETE FROM credit_leases lease USING closed WHERE lease.hold_key = closed.key
    RETURNING lease.hold_key, lease.lot_id, lease.amount_nano_usd AS amount, closed.charged
  ), parts AS (
    SELECT hold_key, lot_id, class, amount, least(amount, greatest(0, charged - (sum(amount) OVER (
        PARTITION BY hold_key ORDER BY class = 'paid', expires_at NULLS LAST, lot_id) - amount)))::bigint AS spent
    FROM ended JOIN credit_lots ON credit_lots.id = ended.lot_id
  ), given_back AS (
    UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd + back.amount
    FROM (SELECT lot_id, sum(amount - spent)::bigint AS amount FROM parts GROUP BY lot_id) AS back
    WHERE credit_lots.id = back.lot_id AND back.amount > 0
  ), entered AS (
    INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason, charges)
    SELECT 'hold:' || key, account_id, book, 'charge', sign * charged, reason,
      CASE book WHEN 'credit' THEN jsonb_build_array(jsonb_build_array(key_id, model, 1, charged::text)) END
    FROM closed CROSS JOIN (VALUES ('credit', -1), ('revenue', 1)) AS sides (book, sign) WHERE charged > 0
  )
  SELECT key, coalesce((SELECT sum(spent) FROM parts WHERE hold_key = key AND class = 'promotional'), 0)::bigint
    AS promotional FROM closed`
