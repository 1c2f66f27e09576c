import { createId } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import { createKeyToken, hashKey } from '../key-form.ts'

export interface SessionKeyOrder {
  readonly accountId: string
  readonly userId: string
  /** Null for the whole account. */
  readonly projectId: string | null
  readonly environment: string
}

/**
 * Returns the key that stands for a person in sessions. Nobody knows its secret, it is in no list, and only a session can use it. Its scopes
 * are bounded by the role of the person. A key that ended when the person left works again: the sessions of that time were deleted.
 */
export async function ensureSessionKey(
  transaction: Queryable,
  { accountId, userId, projectId, environment }: SessionKeyOrder,
  nowMs: number,
): Promise<string> {
  const [row] = await transaction.query<{ id: string }>(
    `INSERT INTO api_keys (id, account_id, user_id, project_id, name, environment, key_hash, key_prefix, scopes, created_at, is_of_sessions)
     VALUES ($1, $2, $3, $4, 'Sessions', $5, $6, '', '{inference,manage}', $7, true)
     ON CONFLICT (account_id, user_id, coalesce(project_id, account_id)) WHERE is_of_sessions AND origin_key_id IS NULL AND NOT is_of_tokens
     DO UPDATE SET revoked_at = NULL RETURNING id`,
    [
      createId(nowMs),
      accountId,
      userId,
      projectId,
      environment,
      Buffer.from(hashKey(createKeyToken('dev')), 'hex'),
      new Date(nowMs),
    ],
  )
  if (row === undefined) throw new Error('the key of sessions was neither found nor created')
  return row.id
}
