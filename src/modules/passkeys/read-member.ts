import { notFound } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'

interface MemberPlace {
  readonly accountId: string
  readonly userId: string
}

/** Returns what an authenticator shows of a member. */
export async function readMember(
  queryable: Queryable,
  { accountId, userId }: MemberPlace,
): Promise<{ accountName: string; email: string; name: string | null }> {
  const [row] = await queryable.query<{ account_name: string; email: string; name: string | null }>(
    `SELECT a.name AS account_name, u.email, m.name FROM account_members m
       JOIN accounts a ON a.id = m.account_id JOIN users u ON u.id = m.user_id
     WHERE m.account_id = $1 AND m.user_id = $2`,
    [accountId, userId],
  )
  if (row === undefined) throw notFound('user')
  return { accountName: row.account_name, email: row.email, name: row.name }
}

/** Returns the environment of the person's sessions before, for a session in another project. */
export async function readEnvironment(
  queryable: Queryable,
  { accountId, userId }: MemberPlace,
): Promise<string> {
  const [row] = await queryable.query<{ environment: string }>(
    `SELECT environment FROM api_keys WHERE account_id = $1 AND user_id = $2 AND is_of_sessions ORDER BY id DESC LIMIT 1`,
    [accountId, userId],
  )
  return row?.environment ?? 'live'
}
