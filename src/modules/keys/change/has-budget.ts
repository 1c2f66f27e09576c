import type { Queryable } from '../../../storage/database.ts'

/** Whether a budget limits what the key spends. The keys that it makes then count against that budget too. */
export async function hasBudget(queryable: Queryable, accountId: string, keyId: string): Promise<boolean> {
  const rows = await queryable.query(
    `SELECT FROM budgets WHERE account_id = $1 AND subject = $2 AND is_hard AND deleted_at IS NULL LIMIT 1`,
    [accountId, `key:${keyId}`],
  )
  return rows.length > 0
}
