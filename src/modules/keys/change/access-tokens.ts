import type { Queryable } from '../../../storage/database.ts'
import { createAccessToken, hashKey, isAccessTokenForm } from '../key-form.ts'

/** The newest tokens that work beside each other. More are only made by mistake. */
const TOKENS_OF_GRANT_MAX = 20
const TOKENS_OF_KEY_MAX = 5000

export interface AccessTokenOrder {
  readonly accountId: string
  /** The hidden key of its owner, from `ensureTokenKey`. */
  readonly keyId: string
  /** Null for a token that was exchanged for another one. */
  readonly grantId: string | null
  readonly lifeMs: number
}

export interface AccessToken {
  /** In plain text. It cannot be shown again. */
  readonly token: string
  readonly expiresAtMs: number
}

export async function issueAccessToken(
  transaction: Queryable,
  { accountId, keyId, grantId, lifeMs }: AccessTokenOrder,
  nowMs: number,
): Promise<AccessToken> {
  const token = createAccessToken()
  const expiresAtMs = nowMs + lifeMs
  await transaction.query(
    `INSERT INTO access_tokens (token_hash, account_id, key_id, grant_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
    [hashOf(token), accountId, keyId, grantId, new Date(nowMs), new Date(expiresAtMs)],
  )
  await transaction.query(
    `DELETE FROM access_tokens WHERE token_hash IN (
       SELECT token_hash FROM access_tokens WHERE key_id = $1 AND grant_id IS NOT DISTINCT FROM $2
       ORDER BY created_at DESC, token_hash OFFSET $3)`,
    [keyId, grantId, grantId === null ? TOKENS_OF_KEY_MAX : TOKENS_OF_GRANT_MAX],
  )
  return { token, expiresAtMs }
}

interface DeletedToken {
  readonly accountId: string
  readonly keyId: string
  readonly grantId: string | null
}

/** Returns what the token was of, or null if there is none. The caller announces the change of the key. */
export async function deleteAccessToken(queryable: Queryable, token: string): Promise<DeletedToken | null> {
  if (!isAccessTokenForm(token)) return null
  const [row] = await queryable.query<{ account_id: string; key_id: string; grant_id: string | null }>(
    'DELETE FROM access_tokens WHERE token_hash = $1 RETURNING account_id, key_id, grant_id',
    [hashOf(token)],
  )
  return row === undefined ? null : { accountId: row.account_id, keyId: row.key_id, grantId: row.grant_id }
}

/** Deletes tokens that have expired. */
export async function sweepAccessTokens(queryable: Queryable): Promise<void> {
  await queryable.query('DELETE FROM access_tokens WHERE expires_at <= now()')
}

function hashOf(token: string): Buffer {
  return Buffer.from(hashKey(token), 'hex')
}
