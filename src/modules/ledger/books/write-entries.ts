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
}

/** Writes both sides of a movement. Writes nothing and returns false if the key exists. */
export async function writeEntries(transaction: Queryable, movement: Movement): Promise<boolean> {
  const { key, accountId, kind, gainNanoUsd, book, reason } = movement
  const written = await transaction.query(
    `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason)
     VALUES ($1, $2, 'credit', $3, $4, $6), ($1, $2, $5, $3, -$4::bigint, $6)
     ON CONFLICT (key, book) WHERE kind <> 'charge' DO NOTHING RETURNING id`,
    [key, accountId, kind, gainNanoUsd, book, reason],
  )
  if (written.length === 1) throw new Error(`the ledger's key '${key}' was used for two different things`)
  return written.length === 2
}
