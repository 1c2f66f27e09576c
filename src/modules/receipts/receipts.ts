import { notFound } from '../../kernel/app-error.ts'
import type { OpenPage } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import { findReceipt, listReceipts, walkLeafLines, type Receipt } from './read-receipts.ts'
import { listReceiptKeys, type ReceiptKey } from './signing-key.ts'
import { walkRecords, type Span } from './walk-records.ts'

export { keepReceipts } from './keep-receipts.ts'
export { makeDueReceipts } from './make-due-receipts.ts'
export type { Receipt } from './read-receipts.ts'
export { SEALED_RECEIPT_KEYS, type ReceiptKey } from './signing-key.ts'

/** What an account was charged a day, signed, so that its bill is checked without trusting the database. */
export interface Receipts {
  list(
    accountId: string,
    page: { readonly limit: number; readonly afterNumber: number | null },
  ): Promise<OpenPage<Receipt>>
  /** The public keys of all receipts. */
  listKeys(): Promise<readonly ReceiptKey[]>
  /** The hashes that a receipt is about, in parts. Throws `not_found`. */
  readLeaves(accountId: string, number: number): Promise<AsyncGenerator<string, void>>
  /** The records as they are in the database now, one line of JSON each, in parts. */
  walkRecords(accountId: string, span: Span): AsyncGenerator<string, void>
}

export function createReceipts({ database }: { readonly database: Database }): Receipts {
  return {
    list: (accountId, page) => listReceipts(database, accountId, page),
    listKeys: () => listReceiptKeys(database),
    async readLeaves(accountId, number) {
      if ((await findReceipt(database, accountId, number)) === null) throw notFound('receipt')
      return walkLeafLines(database, accountId, number)
    },
    async *walkRecords(accountId, span) {
      for await (const records of walkRecords(database, accountId, span))
        yield records.map(({ line }) => `${line}\n`).join('')
    },
  }
}
