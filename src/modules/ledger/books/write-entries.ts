import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'

/** The other side of a movement. */
export type Book = 'cash' | 'revenue' | 'promotion' | 'adjustment'

export interface Movement {
  /** The caller's idempotency key: a second movement with it changes nothing. */
  readonly key: string
  readonly accountId: string
  readonly kind: 'grant' | 'charge' | 'reverse' | 'deduct' | 'expire'
  /** The change of the account's credit. */
  readonly gainNanoUsd: NanoUsd
  readonly book: Book
  readonly reason: string | null
  /** What a charge is for. */
  readonly charged?: ChargedFor
}

interface ChargedFor {
  readonly keyId: string
  readonly model: string
}

/** SQL of the column `charges` of an entry: an aggregate over rows with a key, a model, requests and an amount. */
export const CHARGES_OF_ENTRY =
  'jsonb_agg(jsonb_build_array(key_id, model, requests, amount_nano_usd::text) ORDER BY amount_nano_usd DESC, key_id, model)'

/** Writes both sides of a movement. Writes nothing and returns false if the key exists. */
export async function writeEntries(transaction: Queryable, movement: Movement): Promise<boolean> {
  const { key, accountId, kind, gainNanoUsd, book, reason, charged } = movement
  const charges = charged && JSON.stringify([[charged.keyId, charged.model, 1, String(-gainNanoUsd)]])
  const written = await transaction.query(
    `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason, charges)
     VALUES ($1, $2, 'credit', $3, $4, $6, $7::jsonb), ($1, $2, $5, $3, -$4::bigint, $6, NULL)
     ON CONFLICT (key, book) WHERE kind <> 'charge' DO NOTHING RETURNING id`,
    [key, accountId, kind, gainNanoUsd, book, reason, charges ?? null],
  )
  if (written.length === 1) throw new Error(`the ledger's key '${key}' was used for two different things`)
  return written.length === 2
}
