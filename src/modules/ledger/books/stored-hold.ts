import { AppError } from '../../../kernel/app-error.ts'
import { formatUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { capReached } from './cap-reached.ts'
import { lockAccount, readCreditState } from './lock-account.ts'
import { endLeases, lendFromCaps, lendFromLots, readCapRooms, type Cap } from './lend-credit.ts'
import { recordUsage } from './record-usage.ts'
import type { UsageRecord } from './usage-record.ts'
import { writeEntries } from './write-entries.ts'

export interface HoldOrder {
  /** The caller's idempotency key. */
  readonly key: string
  readonly accountId: string
  readonly amountNanoUsd: NanoUsd
  readonly expiresAtMs: number
  readonly caps: readonly Cap[]
}

/** Holds credit for a task, in the transaction that creates it. Throws if the account or a cap has less. */
export async function openHold(transaction: Queryable, order: HoldOrder): Promise<{ isNew: boolean }> {
  const { key, accountId, amountNanoUsd } = order
  await lockAccount(transaction, accountId)
  const opened = await transaction.query(
    `INSERT INTO credit_holds (key, account_id, amount_nano_usd, expires_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (key) DO NOTHING RETURNING key`,
    [key, accountId, amountNanoUsd, new Date(order.expiresAtMs)],
  )
  if (opened.length === 0) return { isNew: false }
  const { freeNanoUsd, debtNanoUsd } = await readCreditState(transaction, accountId)
  if (debtNanoUsd > 0n || freeNanoUsd < amountNanoUsd)
    throw notCovered(amountNanoUsd, freeNanoUsd - debtNanoUsd)
  await lendFromLots(transaction, { holdKey: key }, [{ accountId, amountNanoUsd }])
  for (const { cap, roomNanoUsd } of await readCapRooms(transaction, order.caps)) {
    if (amountNanoUsd > 0n && roomNanoUsd < amountNanoUsd)
      throw capReached(cap, { neededNanoUsd: amountNanoUsd, leftNanoUsd: roomNanoUsd })
  }
  const slices = order.caps.map(({ scope }) => ({ scope, amountNanoUsd }))
  await lendFromCaps(transaction, accountId, { holdKey: key }, slices)
  return { isNew: true }
}

export interface SettleOrder {
  readonly key: string
  /** Never more than is held. */
  readonly chargedNanoUsd: NanoUsd
  /** Cost that the account could not pay; zero by default. */
  readonly uncoveredNanoUsd?: NanoUsd
  readonly reason: string
  /** The usage row, and the writer number of this process. */
  readonly usage: { readonly writer: number; readonly record: UsageRecord }
}

/** Charges the used amount and returns the rest. Idempotent; settling a released hold is refused. */
export async function settleHold(transaction: Queryable, order: SettleOrder): Promise<{ isNew: boolean }> {
  const hold = await closeHold(transaction, order.key, 'settled', order.chargedNanoUsd)
  if (hold === null) return { isNew: false }
  const [spent] = await transaction.query<{ promotional: bigint }>(SPEND_LEASES, [
    order.key,
    order.chargedNanoUsd,
  ])
  const { writer, record } = order.usage
  if (order.chargedNanoUsd > 0n) {
    await writeEntries(transaction, {
      key: `hold:${order.key}`,
      accountId: hold.accountId,
      kind: 'charge',
      gainNanoUsd: -order.chargedNanoUsd,
      book: 'revenue',
      reason: order.reason,
      charged: record,
    })
  }
  const charge = {
    record,
    costNanoUsd: order.chargedNanoUsd,
    promotionalNanoUsd: spent?.promotional ?? 0n,
    uncoveredNanoUsd: order.uncoveredNanoUsd ?? 0n,
  }
  await recordUsage(transaction, { writer, charges: [charge] })
  await endLeases(transaction, hold.accountId, { holdKey: order.key })
  return { isNew: true }
}

/** Returns the whole hold. */
export async function releaseHold(transaction: Queryable, key: string): Promise<{ isNew: boolean }> {
  const hold = await closeHold(transaction, key, 'released', 0n)
  if (hold === null) return { isNew: false }
  await endLeases(transaction, hold.accountId, { holdKey: key })
  return { isNew: true }
}

/** The hold was already closed in another way. */
export class HoldClosed extends Error {
  override readonly name = 'HoldClosed'
}

const EXPIRED_AT_ONCE_MAX = 100

/** Expired holds. Release each in its own transaction. */
export async function listExpiredHolds(queryable: Queryable): Promise<string[]> {
  const rows = await queryable.query<{ key: string }>(
    `SELECT key FROM credit_holds WHERE status = 'open' AND expires_at < now() ORDER BY expires_at LIMIT $1`,
    [EXPIRED_AT_ONCE_MAX],
  )
  return rows.map(({ key }) => key)
}

async function closeHold(
  transaction: Queryable,
  key: string,
  status: 'settled' | 'released',
  chargedNanoUsd: NanoUsd,
): Promise<{ accountId: string } | null> {
  const [found] = await transaction.query<{ account_id: string }>(
    'SELECT account_id FROM credit_holds WHERE key = $1',
    [key],
  )
  if (found === undefined) throw new Error(`there is no hold '${key}'`)
  await lockAccount(transaction, found.account_id)
  const closed = await transaction.query(
    `UPDATE credit_holds SET status = $2, charged_nano_usd = $3, closed_at = now()
     WHERE key = $1 AND status = 'open' RETURNING key`,
    [key, status, chargedNanoUsd],
  )
  if (closed.length > 0) return { accountId: found.account_id }
  const [row] = await transaction.query<{ status: string; charged_nano_usd: bigint }>(
    'SELECT status, charged_nano_usd FROM credit_holds WHERE key = $1',
    [key],
  )
  if (row?.status === status && row.charged_nano_usd === chargedNanoUsd) return null
  throw new HoldClosed(
    `the hold '${key}' was ${row?.status} before, with ${row?.charged_nano_usd} nano-dollars charged`,
  )
}

// Promotional parts pay first. Each cap is charged the same amount as the credit.
const SPEND_LEASES = `
  WITH parts AS (
    SELECT lease.id, lot.class, lease.amount_nano_usd AS amount,
      sum(lease.amount_nano_usd) OVER (PARTITION BY lease.cap ORDER BY lot.class = 'paid', lot.expires_at NULLS LAST, lot.id)
        - lease.amount_nano_usd AS before
    FROM credit_leases lease LEFT JOIN credit_lots lot ON lot.id = lease.lot_id WHERE lease.hold_key = $1
  ), spent AS (
    UPDATE credit_leases SET spent_nano_usd = least(parts.amount, greatest(0, $2::bigint - parts.before))
    FROM parts WHERE credit_leases.id = parts.id
    RETURNING parts.class, spent_nano_usd
  )
  SELECT coalesce(sum(spent_nano_usd), 0)::bigint AS promotional FROM spent WHERE class = 'promotional'`

function notCovered(neededNanoUsd: NanoUsd, availableNanoUsd: NanoUsd): AppError {
  const message = `${formatUsd(neededNanoUsd)} USD needed, ${formatUsd(availableNanoUsd)} USD available. Add credit to go on.`
  return new AppError('insufficient_balance', message)
}

/** Deletes holds that are closed. Their movements stay in the ledger. */
export async function forgetHolds(transaction: Queryable, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await transaction.query(`DELETE FROM credit_holds WHERE key = ANY ($1) AND status <> 'open'`, [keys])
}
