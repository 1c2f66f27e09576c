import { openPage, type OpenPage } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { writeLeaves } from './leaf.ts'

/** What was charged on a day, signed. */
export interface Receipt {
  readonly number: number
  /** `2026-10-31` */
  readonly day: string
  readonly records: number
  readonly statement: string
  readonly signature: string
}

const RECEIPT_COLUMNS = 'number, day::text AS day, records::float8 AS records, statement, signature'
const NUMBER_MAX = 2_147_483_647

/** Newest first. */
export async function listReceipts(
  queryable: Queryable,
  accountId: string,
  { limit, afterNumber }: { readonly limit: number; readonly afterNumber: number | null },
): Promise<OpenPage<Receipt>> {
  const rows = await queryable.query<Receipt>(
    `SELECT ${RECEIPT_COLUMNS} FROM receipts WHERE account_id = $1 AND number < $2 AND statement IS NOT NULL
     ORDER BY number DESC LIMIT $3`,
    [accountId, afterNumber ?? NUMBER_MAX, limit + 1],
  )
  return openPage(rows, limit)
}

export async function findReceipt(
  queryable: Queryable,
  accountId: string,
  number: number,
): Promise<Receipt | null> {
  const [row] = await queryable.query<Receipt>(
    `SELECT ${RECEIPT_COLUMNS} FROM receipts WHERE account_id = $1 AND number = $2 AND statement IS NOT NULL`,
    [accountId, number],
  )
  return row ?? null
}

/** One line a record, in parts. Nothing if the records are not kept any more. */
export async function* walkLeafLines(
  queryable: Queryable,
  accountId: string,
  number: number,
): AsyncGenerator<string, void> {
  for (let part = 1; ; part += 1) {
    const [row] = await queryable.query<{ leaves: Buffer }>(
      'SELECT leaves FROM receipt_leaves WHERE account_id = $1 AND number = $2 AND part = $3',
      [accountId, number, part],
    )
    if (row === undefined) return
    yield writeLeaves(row.leaves)
  }
}
