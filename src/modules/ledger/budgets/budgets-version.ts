import type { Queryable } from '../../../storage/database.ts'
import { lockAccount } from '../books/lock-account.ts'

/**
 * Returns the version for a change of the account's budgets. Changes of one account follow one another, so that a process which read up
 * to a version has missed none before it.
 */
export async function bumpBudgetsVersion(transaction: Queryable, accountId: string): Promise<bigint> {
  await lockAccount(transaction, accountId)
  const [row] = await transaction.query<{ version: bigint }>(
    `UPDATE credit_accounts SET budgets_version = budgets_version + 1 WHERE account_id = $1
     RETURNING budgets_version AS version`,
    [accountId],
  )
  if (row === undefined) throw new Error('a locked account has no row')
  return row.version
}
