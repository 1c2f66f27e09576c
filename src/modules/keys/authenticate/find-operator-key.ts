import type { Queryable } from '../../../storage/database.ts'

/** Returns the oldest valid key of the first account that can administer the gateway. */
export async function findOperatorKey(
  queryable: Queryable,
): Promise<{ accountId: string; keyId: string } | null> {
  const [row] = await queryable.query<{ id: string; account_id: string }>(
    `SELECT id, account_id FROM api_keys
     WHERE account_id = (SELECT id FROM accounts ORDER BY id LIMIT 1) AND 'admin' = ANY (scopes)
       AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
     ORDER BY id LIMIT 1`,
  )
  return row === undefined ? null : { accountId: row.account_id, keyId: row.id }
}
