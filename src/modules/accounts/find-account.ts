import { isUuid } from '../../kernel/identifiers.ts'
import type { Database } from '../../storage/database.ts'

export interface FoundAccount {
  readonly id: string
  /** Whether it is the oldest account, which belongs to the operator. */
  readonly isFirst: boolean
}

/** Returns the account with this id, or the first account if the id is null. */
export async function findAccount(
  database: Database,
  accountId: string | null,
): Promise<FoundAccount | undefined> {
  if (accountId !== null && !isUuid(accountId)) return undefined
  const [row] = await database.query<{ id: string; isFirst: boolean }>(
    `SELECT id, id = (SELECT id FROM accounts ORDER BY id LIMIT 1) AS "isFirst"
     FROM accounts WHERE $1::uuid IS NULL OR id = $1 ORDER BY id LIMIT 1`,
    [accountId],
  )
  return row
}
