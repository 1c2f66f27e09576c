import { isUuid } from '../../kernel/identifiers.ts'
import type { Database } from '../../storage/database.ts'

export interface FoundAccount {
  readonly id: string
  /** The first that was made, which is the operator's. */
  readonly isFirst: boolean
}

/** The account of that id, or the first one when none is named. */
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
