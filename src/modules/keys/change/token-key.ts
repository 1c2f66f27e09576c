import { createId } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import { createKeyToken, hashKey } from '../key-form.ts'

/** Whose access tokens: a person or a service account, in one place and environment. */
export interface TokenOwner {
  readonly accountId: string
  readonly userId: string | null
  readonly serviceAccountId: string | null
  /** Null for the whole account. */
  readonly projectId: string | null
  readonly environment: string
}

/**
 * Returns the id of the hidden key that stands for the owner of access tokens in one place and environment, so that usage and the audit log have one key.
 * Nobody knows its secret and it is in no list. Its scopes are bounded by the roles of the owner, and are never those of an operator.
 */
export async function ensureTokenKey(
  transaction: Queryable,
  { accountId, userId, serviceAccountId, projectId, environment }: TokenOwner,
  nowMs: number,
): Promise<string> {
  const [row] = await transaction.query<{ id: string }>(
    `INSERT INTO api_keys (id, account_id, user_id, service_account_id, project_id, name, environment, key_hash, key_prefix, scopes, created_at,
       is_of_sessions, is_of_tokens)
     VALUES ($1, $2, $3, $4, $5, 'Connected tools', $6, $7, '', '{inference,manage}', $8, true, true)
     ON CONFLICT (account_id, coalesce(user_id, service_account_id), coalesce(project_id, account_id), environment)
       WHERE is_of_tokens
     DO UPDATE SET revoked_at = NULL RETURNING id`,
    [
      createId(nowMs),
      accountId,
      userId,
      serviceAccountId,
      projectId,
      environment,
      Buffer.from(hashKey(createKeyToken('dev')), 'hex'),
      new Date(nowMs),
    ],
  )
  if (row === undefined) throw new Error('the key of access tokens was neither found nor created')
  return row.id
}
