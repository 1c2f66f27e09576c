import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'

/** Where credit comes from and goes to. */
export type Book = 'cash' | 'revenue' | 'promotion' | 'adjustment'

export interface Movement {
  /** The caller's name for what happened: the same key changes nothing a second time. */
  readonly key: string
  readonly accountId: string
  readonly kind: 'grant' | 'charge' | 'reverse' | 'deduct' | 'expire'
  /** What the account gains; negative for what it loses. */
  readonly gainNanoUsd: NanoUsd
  readonly book: Book
  readonly reason: string | null
}

/** Both sides of a movement, or nothing and `false` when its key was there already. */
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
