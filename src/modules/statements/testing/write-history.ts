import { createId } from '../../../kernel/identifiers.ts'
import type { Database } from '../../../storage/database.ts'

/** A movement of the ledger at some time, as the gateway writes it. */
export type HistoryEvent = { readonly atMs: number; readonly amount: bigint } & (
  | { readonly kind: 'charge'; readonly keyId: string; readonly model: string; readonly isNamed: boolean }
  | { readonly kind: 'grant' | 'reverse' | 'deduct' | 'expire'; readonly book: string }
)

/** Writes entries with a time of their own, which only a test can do, and what a posting writes beside those of charges. */
export async function writeEvent(database: Database, accountId: string, event: HistoryEvent): Promise<void> {
  const at = new Date(event.atMs)
  const key = `test:${createId()}`
  const isCharge = event.kind === 'charge'
  const gain = isCharge || event.kind !== 'grant' ? -event.amount : event.amount
  const insert = `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason, created_at)
    VALUES ($1, $2, 'credit', $3, $4, 'history', $6), ($1, $7, $5, $3, -$4::bigint, 'history', $6)`
  const book = isCharge ? 'revenue' : event.book
  await database.transaction(async (transaction) => {
    await transaction.query(insert, [
      key,
      accountId,
      event.kind,
      gain,
      book,
      at,
      // The side of revenue of charges has no account.
      isCharge ? null : accountId,
    ])
    if (!isCharge || !event.isNamed) return
    await transaction.query(
      `INSERT INTO charges_by_day (account_id, day, key_id, model, writer, requests, amount_nano_usd)
       VALUES ($1, ($2::timestamptz AT TIME ZONE 'UTC')::date, $3, $4, 1, 1, $5)
       ON CONFLICT (account_id, day, key_id, model, writer) DO UPDATE SET requests = charges_by_day.requests + 1,
         amount_nano_usd = charges_by_day.amount_nano_usd + excluded.amount_nano_usd`,
      [accountId, at, event.keyId, event.model, event.amount],
    )
  })
}
