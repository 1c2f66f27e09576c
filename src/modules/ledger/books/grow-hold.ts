import type { AppError } from '../../../kernel/app-error.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { capReached } from './cap-reached.ts'
import { CHOOSE_LOTS, lockAccount, readCreditState } from './lock-account.ts'
import { readCapRooms, type Cap, type CapRoom } from './lend-credit.ts'
import type { Charged } from '../memory/memory-hold.ts'
import { readCaps } from '../budgets/read-path-budgets.ts'

export interface GrowOrder extends Charged {
  /** The key of the hold. */
  readonly key: string
  readonly accountId: string
  /** The API key whose caps apply. */
  readonly keyId: string
  readonly neededNanoUsd: NanoUsd
  /** Decides the day and month it counts for. */
  readonly atMs: number
}

/**
 * Raises the hold of work that used more than expected, as far as the account and the caps allow, and returns the new amount.
 * Call it in the transaction that settles the hold, after a recall.
 */
export async function growHold(transaction: Queryable, order: GrowOrder): Promise<NanoUsd> {
  const { key, accountId, neededNanoUsd } = order
  await lockAccount(transaction, accountId)
  const [hold] = await transaction.query<{ amount: bigint }>(
    `SELECT amount_nano_usd AS amount FROM credit_holds WHERE key = $1 AND account_id = $2 AND status = 'open'`,
    [key, accountId],
  )
  const heldNanoUsd = hold?.amount ?? 0n
  if (hold === undefined || neededNanoUsd <= heldNanoUsd) return heldNanoUsd
  const { freeNanoUsd, debtNanoUsd } = await readCreditState(transaction, accountId)
  const caps = await readCapsOf(transaction, order)
  const rooms = (await readCapRooms(transaction, caps)).map(({ roomNanoUsd }) => roomNanoUsd)
  const missingNanoUsd = leastOf([neededNanoUsd - heldNanoUsd, debtNanoUsd > 0n ? 0n : freeNanoUsd, ...rooms])
  if (missingNanoUsd <= 0n) return heldNanoUsd
  await transaction.query(GROW, [[accountId], [missingNanoUsd], key, missingNanoUsd])
  await transaction.query(GROW_CAPS, [accountId, key, missingNanoUsd, caps.map(({ scope }) => scope)])
  return heldNanoUsd + missingNanoUsd
}

/**
 * Returns the error for the cap that leaves the least room for this work, or null if none has less than it needs: then credit is
 * missing. Call it after a hold could not grow.
 */
export async function explainCaps(
  queryable: Queryable,
  order: Omit<GrowOrder, 'key'>,
): Promise<AppError | null> {
  let tightest: CapRoom | null = null
  for (const one of await readCapRooms(queryable, await readCapsOf(queryable, order))) {
    if (tightest === null || one.roomNanoUsd < tightest.roomNanoUsd) tightest = one
  }
  const { neededNanoUsd } = order
  if (tightest === null || tightest.roomNanoUsd >= neededNanoUsd) return null
  return capReached(tightest.cap, { neededNanoUsd, leftNanoUsd: tightest.roomNanoUsd })
}

/** The current caps: a lowered cap applies to everything not yet spent. */
async function readCapsOf(
  transaction: Queryable,
  { accountId, keyId, ...charge }: Omit<GrowOrder, 'key'>,
): Promise<readonly Cap[]> {
  const [key] = await transaction.query<PayerRow>(PAYER, [keyId, accountId])
  const payer = {
    accountId,
    keyId,
    limitNanoUsd: key?.own ?? null,
    parent: key?.parent_id ? { keyId: key.parent_id, limitNanoUsd: key.parent } : null,
    projectId: key?.project_id ?? null,
    userId: key?.user_id ?? null,
    serviceAccountId: key?.service_account_id ?? null,
  }
  return readCaps(transaction, payer, charge)
}

interface PayerRow {
  readonly own: bigint | null
  readonly parent_id: string | null
  readonly parent: bigint | null
  readonly project_id: string | null
  readonly user_id: string | null
  readonly service_account_id: string | null
}

const PAYER = `
  SELECT key.limit_nano_usd AS own, parent.id AS parent_id, parent.limit_nano_usd AS parent, key.project_id, key.user_id,
    key.service_account_id
  FROM api_keys key LEFT JOIN api_keys parent ON parent.id = coalesce(key.parent_id, key.origin_key_id) WHERE key.id = $1 AND key.account_id = $2`

// A hold has one lease per lot, which fixes the order of spending.
const GROW = `
  WITH ${CHOOSE_LOTS}, taken AS (
    UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd - chosen.amount
    FROM chosen WHERE credit_lots.id = chosen.id
  ), longer AS (
    UPDATE credit_leases SET amount_nano_usd = amount_nano_usd + chosen.amount
    FROM chosen WHERE hold_key = $3 AND lot_id = chosen.id
  ), leased AS (
    INSERT INTO credit_leases (account_id, hold_key, lot_id, amount_nano_usd)
    SELECT account_id, $3, id, amount FROM chosen
    WHERE NOT EXISTS (SELECT FROM credit_leases WHERE hold_key = $3 AND lot_id = chosen.id)
  )
  UPDATE credit_holds SET amount_nano_usd = amount_nano_usd + $4::bigint WHERE key = $3`

const GROW_CAPS = `
  WITH longer AS (
    UPDATE credit_leases SET amount_nano_usd = amount_nano_usd + $3::bigint WHERE hold_key = $2 AND cap = ANY ($4::text[])
    RETURNING cap
  )
  INSERT INTO credit_leases (account_id, hold_key, cap, amount_nano_usd)
  SELECT $1::uuid, $2, scope, $3::bigint FROM unnest($4::text[]) AS scope WHERE scope NOT IN (SELECT cap FROM longer)`

function leastOf(amounts: readonly NanoUsd[]): NanoUsd {
  return amounts.reduce((least, amount) => (amount < least ? amount : least))
}
