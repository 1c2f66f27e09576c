import { AppError } from '../../kernel/app-error.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Keys } from '../keys/keys.ts'
import { hashSecret, isDeviceCode } from './grant-secrets.ts'
import { GRANT_DAYS, issueTokens, type GrantTokens } from './issue-tokens.ts'
import { invalidGrant } from './oauth-errors.ts'

/** The oldest tools of a person are signed out if there are more. */
const GRANTS_OF_PERSON_MAX = 50
/** RFC 8628 demands five seconds more for each time that a device asks too early. */
const SLOWER_SECONDS = 5
const INTERVAL_SECONDS_MAX = 60

interface RedeemOptions {
  readonly database: Database
  readonly keys: Pick<Keys, 'ensureTokenKey' | 'issueAccessToken' | 'rolesOf' | 'announceKeyChange'>
}

interface Poll {
  readonly deviceCode: string
  readonly clientId: string
}

/** Answers a device that asks whether its code was approved: with its tokens, once, or with an error of RFC 8628. */
export async function redeemDeviceCode({ database, keys }: RedeemOptions, poll: Poll): Promise<GrantTokens> {
  const outcome = await database.transaction((transaction) => pollOnce(transaction, keys, poll))
  // Thrown after the transaction, which has counted this poll.
  if (outcome instanceof AppError) throw outcome
  for (const keyId of outcome.endedKeyIds) await keys.announceKeyChange(keyId)
  return outcome.tokens
}

interface Redeemed {
  readonly tokens: GrantTokens
  readonly endedKeyIds: readonly string[]
}

async function pollOnce(
  transaction: Queryable,
  keys: RedeemOptions['keys'],
  { deviceCode, clientId }: Poll,
): Promise<Redeemed | AppError> {
  const codeHash = hashSecret(deviceCode)
  const [row] = isDeviceCode(deviceCode)
    ? await transaction.query<PolledRow>(
        `SELECT *, expires_at <= now() AS is_expired,
           polled_at > now() - make_interval(secs => interval_seconds) IS TRUE AS is_early
         FROM device_codes WHERE device_code_hash = $1 FOR UPDATE`,
        [codeHash],
      )
    : []
  if (row === undefined || row.client_id !== clientId)
    return invalidGrant('The device code is unknown, was used, or belongs to another client.')
  if (row.denied_at !== null) return new AppError('access_denied', 'The person refused to sign this tool in.')
  if (row.is_expired) return new AppError('expired_token', 'The code has expired. Start the sign-in again.')
  if (row.grant_id === null) {
    await transaction.query(
      `UPDATE device_codes SET polled_at = now(),
         interval_seconds = CASE WHEN $2 THEN least(interval_seconds + ${SLOWER_SECONDS}, ${INTERVAL_SECONDS_MAX}) ELSE interval_seconds END
       WHERE device_code_hash = $1`,
      [codeHash, row.is_early],
    )
    if (!row.is_early) return new AppError('authorization_pending', 'Nobody has approved the code yet.')
    const message = 'This asks too often. Wait five seconds longer between two requests.'
    return new AppError('slow_down', message, { retryAfterSeconds: row.interval_seconds + SLOWER_SECONDS })
  }
  await transaction.query('DELETE FROM device_codes WHERE device_code_hash = $1', [codeHash])
  return signIn(transaction, keys, { ...row, grant_id: row.grant_id })
}

async function signIn(
  transaction: Queryable,
  keys: RedeemOptions['keys'],
  row: PolledRow & { readonly grant_id: string },
): Promise<Redeemed | AppError> {
  const { account_id: accountId, user_id: userId, project_id: projectId, grant_id: grantId } = row
  if (accountId === null || userId === null || row.environment === null)
    throw new Error('an approved device code has no person')
  const roles = await keys.rolesOf(transaction, { accountId, projectId, userId })
  if (roles.length === 0) return new AppError('access_denied', 'The person may not use the account any more.')
  const owner = { accountId, userId, serviceAccountId: null, projectId, environment: row.environment }
  const keyId = await keys.ensureTokenKey(transaction, owner)
  await transaction.query(
    `INSERT INTO grants (id, account_id, user_id, project_id, key_id, client_id, ip_address, user_agent, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(days => $9))`,
    [grantId, accountId, userId, projectId, keyId, row.client_id, row.ip_address, row.user_agent, GRANT_DAYS],
  )
  const ended = await transaction.query<{ key_id: string }>(
    `DELETE FROM grants WHERE id IN (
       SELECT id FROM grants WHERE account_id = $1 AND user_id = $2 AND id <> $3 ORDER BY last_used_at DESC OFFSET $4) RETURNING key_id`,
    [accountId, userId, grantId, GRANTS_OF_PERSON_MAX - 1],
  )
  const tokens = await issueTokens(transaction, keys, { accountId, keyId, grantId })
  const [person] = await transaction.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [
    userId,
  ])
  return {
    tokens: { ...tokens, ...(person !== undefined && { email: person.email }) },
    endedKeyIds: [...new Set(ended.map(({ key_id: id }) => id))],
  }
}

interface PolledRow {
  readonly client_id: string
  readonly ip_address: string
  readonly user_agent: string
  readonly interval_seconds: number
  readonly account_id: string | null
  readonly user_id: string | null
  readonly project_id: string | null
  readonly environment: string | null
  readonly grant_id: string | null
  readonly denied_at: Date | null
  readonly is_expired: boolean
  readonly is_early: boolean
}
