import { createId } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { ACCOUNT_COLUMNS, type AccountRow } from './account-record.ts'

/** Grants an account its initial credit. */
export interface FirstCredit {
  grant(
    transaction: Queryable,
    order: {
      key: string
      accountId: string
      amountNanoUsd: NanoUsd
      class: 'paid'
      book: 'adjustment'
      reason: string
    },
  ): Promise<unknown>
}

export async function insertAccount(
  transaction: Queryable,
  credit: FirstCredit,
  { name, creditNanoUsd, nowMs }: { name: string; creditNanoUsd: NanoUsd; nowMs: number },
): Promise<AccountRow> {
  const [row] = await transaction.query<AccountRow>(
    `INSERT INTO accounts (id, name, status, created_at, updated_at) VALUES ($1, $2, 'active', $3, $3)
     RETURNING ${ACCOUNT_COLUMNS}`,
    [createId(nowMs), name, new Date(nowMs)],
  )
  if (row === undefined) throw new Error('an inserted account was not returned')
  await transaction.query('INSERT INTO credit_accounts (account_id) VALUES ($1)', [row.id])
  if (creditNanoUsd > 0n) {
    await credit.grant(transaction, {
      key: `opening:${row.id}`,
      accountId: row.id,
      amountNanoUsd: creditNanoUsd,
      class: 'paid',
      book: 'adjustment',
      reason: 'Starting credit',
    })
  }
  return row
}
