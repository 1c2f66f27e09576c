import { AppError } from '../../kernel/app-error.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type RequestOrigin } from '../audit/audit.ts'
import type { Keys } from '../keys/keys.ts'
import { createSalt, hashSecret, isRefreshToken, succeedRefreshToken } from './grant-secrets.ts'
import { issueTokens, REFRESH_IDLE_DAYS, type GrantTokens } from './issue-tokens.ts'
import { invalidRefreshToken, signInEnded } from './oauth-errors.ts'

/**
 * How long a used token still gets the same successor, if that was not used: two processes of a tool may refresh at once, and an answer may
 * get lost. A thief who is that quick shares one successor with the tool, and whoever uses it second ends both.
 */
const GRACE_SECONDS = 30

interface RefreshOptions {
  readonly database: Database
  readonly keys: Pick<Keys, 'callerOf' | 'issueAccessToken' | 'announceKeyChange'>
}

export interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** Where the request comes from, for the audit log. */
  readonly origin: RequestOrigin
}

/** Uses up a refresh token. One that was used before ends the tool with all of its tokens, because somebody has stolen it. */
export async function refreshGrant(
  { database, keys }: RefreshOptions,
  refresh: Refresh,
): Promise<GrantTokens> {
  await requirePerson({ database, keys }, refresh.refreshToken)
  const outcome = await database.transaction((transaction) => refreshOnce(transaction, keys, refresh))
  if ('tokens' in outcome) return outcome.tokens
  // Told after the transaction, which has ended the tool.
  if (outcome.endedKeyId !== null) await keys.announceKeyChange(outcome.endedKeyId)
  throw outcome.error
}

type Outcome =
  | { readonly tokens: GrantTokens }
  | { readonly error: AppError; readonly endedKeyId: string | null }

async function refreshOnce(
  transaction: Queryable,
  keys: RefreshOptions['keys'],
  { refreshToken, clientId, origin }: Refresh,
): Promise<Outcome> {
  const grant = await lockGrantOf(transaction, refreshToken)
  if (grant === null || grant.client_id !== clientId) return refuse(UNKNOWN)
  const { id: grantId, account_id: accountId, key_id: keyId } = grant
  const tokenHash = hashSecret(refreshToken)
  const [token] = await transaction.query<TokenRow>(READ_TOKEN, [tokenHash, grantId])
  if (token === undefined) return refuse(UNKNOWN)
  if (token.is_expired) {
    await transaction.query('DELETE FROM grants WHERE id = $1', [grantId])
    return refuse('The tool was not used for too long, or is signed in for too long. Sign in again.', keyId)
  }
  const salt = token.successor_salt ?? createSalt()
  const successor = succeedRefreshToken(refreshToken, salt)
  const isRepeated = token.used_at !== null
  if (isRepeated && !(token.is_in_grace && (await isUnused(transaction, successor)))) {
    await transaction.query('DELETE FROM grants WHERE id = $1', [grantId])
    await recordChange(transaction, {
      actor: { accountId, keyId, origin },
      type: 'grant.reused',
      projectId: grant.project_id,
      resourceId: wireId('grant', grantId),
      details: { data: { client_id: clientId } },
    })
    return refuse(REUSED, keyId)
  }
  if (!isRepeated) {
    await transaction.query(
      'UPDATE refresh_tokens SET used_at = clock_timestamp(), successor_salt = $2 WHERE token_hash = $1',
      [tokenHash, salt],
    )
  }
  const tokens = await issueTokens(transaction, keys, {
    accountId,
    keyId,
    grantId,
    refreshToken: successor,
  })
  return { tokens }
}

/** Throws if the person may not use the account at the moment. The tool stays signed in, so that it is told why. */
async function requirePerson({ database, keys }: RefreshOptions, refreshToken: string): Promise<void> {
  if (!isRefreshToken(refreshToken)) return
  const [grant] = await database.query<{ account_id: string; key_id: string }>(
    'SELECT g.account_id, g.key_id FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id WHERE t.token_hash = $1',
    [hashSecret(refreshToken)],
  )
  if (grant === undefined) return
  await keys.callerOf(grant.account_id, grant.key_id).catch((error: unknown) => {
    throw error instanceof AppError && REFUSED_PERSON.has(error.code) ? signInEnded(error) : error
  })
}

const REFUSED_PERSON: ReadonlySet<string> = new Set(['invalid_api_key', 'account_suspended'])
const UNKNOWN = 'The refresh token is unknown, was revoked, or belongs to another client.'
const REUSED =
  'This refresh token was used before, so somebody else may have it. The tool was signed out: sign in again.'

function refuse(message: string, endedKeyId: string | null = null): Outcome {
  return { error: invalidRefreshToken(message), endedKeyId }
}

/** Finds the tool of a refresh token. Nobody else refreshes or ends it before the end of the transaction. */
export async function lockGrantOf(transaction: Queryable, refreshToken: string): Promise<GrantRow | null> {
  if (!isRefreshToken(refreshToken)) return null
  const [grant] = await transaction.query<GrantRow>(
    `SELECT id, account_id, user_id, project_id, key_id, client_id FROM grants
     WHERE id = (SELECT grant_id FROM refresh_tokens WHERE token_hash = $1) FOR UPDATE`,
    [hashSecret(refreshToken)],
  )
  return grant ?? null
}

async function isUnused(transaction: Queryable, refreshToken: string): Promise<boolean> {
  const [token] = await transaction.query<{ used_at: Date | null }>(
    'SELECT used_at FROM refresh_tokens WHERE token_hash = $1',
    [hashSecret(refreshToken)],
  )
  return token?.used_at === null
}

// Times are those of the statement, because the transaction may have waited for another one.
const READ_TOKEN = `
  SELECT t.used_at, t.successor_salt,
    t.used_at > clock_timestamp() - interval '${GRACE_SECONDS} seconds' IS TRUE AS is_in_grace,
    g.expires_at <= now() OR t.created_at <= now() - interval '${REFRESH_IDLE_DAYS} days' AS is_expired
  FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id WHERE t.token_hash = $1 AND t.grant_id = $2`

interface GrantRow {
  readonly id: string
  readonly account_id: string
  readonly user_id: string
  readonly project_id: string | null
  readonly key_id: string
  readonly client_id: string
}

interface TokenRow {
  readonly used_at: Date | null
  readonly successor_salt: Buffer | null
  readonly is_in_grace: boolean
  readonly is_expired: boolean
}
