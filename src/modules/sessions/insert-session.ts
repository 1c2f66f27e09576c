import { AppError } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { recordChange } from '../audit/audit.ts'
import { lockSecret, type Caller } from '../keys/keys.ts'
import { requireAllowedMethod, type SignInMethod } from './sign-in-policy.ts'
import { SESSION_COLUMNS, sessionFromRow, type Session, type SessionRow } from './session-record.ts'
import { createSessionToken, hashSessionToken } from './session-token.ts'

export interface StartedSession extends Session {
  /** The secret for the cookie. It is not stored. */
  readonly token: string
}

/** How and where a session begins. */
export interface SignIn {
  readonly method: SignInMethod
  readonly userAgent: string
  readonly ipAddress: string | null
  /** The provider that the person signed in at, and its own session, with which it can end this one. */
  readonly issuer?: { readonly id: string; readonly session: string | null }
  /** For the audit log, beside the method. Never secrets. */
  readonly note?: Readonly<Record<string, string>>
}

export type SessionKey = Pick<Caller, 'accountId' | 'projectId' | 'keyId' | 'secretMark'>

const LIFE = `interval '7 days'`
const SESSIONS_OF_KEY_MAX = 20

/**
 * The oldest sessions of the key end if it has too many. Throws if the account does not let people in this way, unless the operator opens it by
 * the link of the command line.
 */
export async function insertSession(
  transaction: Queryable,
  key: SessionKey,
  { method, userAgent, ipAddress, issuer, note }: SignIn,
  { isBreakGlass = false }: { readonly isBreakGlass?: boolean } = {},
): Promise<StartedSession> {
  const { accountId, projectId, keyId } = key
  if (!isBreakGlass) await requireAllowedMethod(transaction, accountId, method)
  const secretEndsAt = await endOfSecret(transaction, key)
  const token = createSessionToken()
  const [row] = await transaction.query<SessionRow>(
    `INSERT INTO sessions (id, token_hash, account_id, key_id, user_agent, method, ip_address, issuer_id, issuer_session, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, least(now() + ${LIFE}, $10)) RETURNING ${SESSION_COLUMNS}`,
    [
      createId(),
      hashSessionToken(token),
      accountId,
      keyId,
      userAgent,
      method,
      ipAddress,
      issuer?.id ?? null,
      issuer?.session ?? null,
      secretEndsAt,
    ],
  )
  await transaction.query(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE account_id = $1 AND key_id = $2 ORDER BY id DESC OFFSET $3)`,
    [accountId, keyId, SESSIONS_OF_KEY_MAX],
  )
  if (row === undefined) throw new Error('a session was not stored')
  const actor = { accountId, keyId, session: { id: row.id }, origin: { userAgent, ipAddress } }
  const details = note === undefined ? {} : { data: { method, ...note } }
  await recordChange(transaction, { actor, type: 'login.succeeded', projectId, resourceId: row.id, details })
  return { ...sessionFromRow(row), token }
}

/** A session lasts no longer than the secret that was entered. Null for one that has no end. */
async function endOfSecret(transaction: Queryable, key: SessionKey): Promise<Date | null> {
  const secret = await lockSecret(transaction, key)
  if (secret === null) throw new AppError('invalid_api_key', 'This secret of the key has ended.')
  return secret.isCurrent ? null : secret.endsAt
}
