import type { Queryable } from '../../storage/database.ts'
import type { Keys } from '../keys/keys.ts'
import { createRefreshToken, hashSecret } from './grant-secrets.ts'

/** What a signed-in tool works with. */
export interface GrantTokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresInSeconds: number
  /** The address of the person who approved the code, for the tool to show. Only of its first tokens. */
  readonly email?: string
}

const ACCESS_SECONDS = 3600
/** A tool that is not used for so long is signed out. */
export const REFRESH_IDLE_DAYS = 30
/** A tool is signed out after so long, however much it is used. */
export const GRANT_DAYS = 90
/** More than an hourly refresh uses in the life of a tool. The oldest ones are forgotten, and refused without ending anything. */
const USED_TOKENS_MAX = 5000

interface NewTokens {
  readonly accountId: string
  readonly keyId: string
  readonly grantId: string
  /** The successor of a used one. */
  readonly refreshToken?: string
}

/** Issues an access token, and stores the refresh token that gets the next one. */
export async function issueTokens(
  transaction: Queryable,
  keys: Pick<Keys, 'issueAccessToken'>,
  { accountId, keyId, grantId, refreshToken = createRefreshToken() }: NewTokens,
): Promise<GrantTokens> {
  const lifeMs = ACCESS_SECONDS * 1000
  const { token } = await keys.issueAccessToken(transaction, { accountId, keyId, grantId, lifeMs })
  // Exists already if another process used the same token a moment ago.
  await transaction.query(
    `INSERT INTO refresh_tokens (token_hash, account_id, grant_id, created_at) VALUES ($1, $2, $3, clock_timestamp())
     ON CONFLICT (token_hash) DO NOTHING`,
    [hashSecret(refreshToken), accountId, grantId],
  )
  await transaction.query(
    `DELETE FROM refresh_tokens WHERE token_hash IN (
       SELECT token_hash FROM refresh_tokens WHERE grant_id = $1 ORDER BY created_at DESC OFFSET ${USED_TOKENS_MAX})`,
    [grantId],
  )
  await transaction.query('UPDATE grants SET last_used_at = now() WHERE id = $1 AND last_used_at <> now()', [
    grantId,
  ])
  return { accessToken: token, refreshToken, expiresInSeconds: ACCESS_SECONDS }
}
