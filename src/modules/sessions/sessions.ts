import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller, EnterableProjects, Keys } from '../keys/keys.ts'
import { continueInProject } from './continue-in-project.ts'
import { insertSession, type SignIn, type StartedSession } from './insert-session.ts'
import { noteFailedSignIn, type FailedAttempt } from './note-failed-sign-in.ts'
import { sessionFromRow, type Session, type SessionRow } from './session-record.ts'
import { hashSessionToken } from './session-token.ts'
import { startForPerson, type PersonSignIn } from './start-for-person.ts'
import { invalidCode, readSignInCode, redeemSignInCode, sweepSignInCodes } from './sign-in-codes.ts'

export { createSignInCode } from './sign-in-codes.ts'

export type { Session } from './session-record.ts'

interface SessionOfPerson {
  readonly sessionId: string
  readonly accountId: string
  readonly userId: string
}

/** Where a person signs in. */
export type Browser = Pick<SignIn, 'userAgent' | 'ipAddress'>

export interface Sessions {
  /** Starts a session for this key. The oldest sessions of the key end if it has too many. */
  start(caller: Caller, browser: Browser): Promise<StartedSession>
  /** Starts a session of a member in an account. The caller has checked who the person is. */
  startForPerson(transaction: Queryable, signIn: PersonSignIn): Promise<StartedSession>
  /** Uses up the code of a sign-in link and starts a session for its key. */
  startWithCode(code: string, browser: Browser): Promise<StartedSession>
  /** Returns the caller of the session's key. Throws `invalid_session`, or what a request with the key would get. */
  authenticate(token: string): Promise<Caller>
  /** Returns those of the sessions that have ended. Unlike a request, this does not keep them alive. */
  findEnded(sessionIds: readonly string[]): Promise<string[]>
  /** Notes a failed attempt in the audit log of the account that it leads to, if any. Never throws. */
  noteFailed(attempt: FailedAttempt, error: unknown): Promise<void>
  /** Notes that the key was entered again. Throws if it is neither the key of the session nor one of the same person. */
  confirm(caller: Caller, entered: Caller): Promise<Session>
  /** Notes that the person of the session signed in again, with what the caller of this function has checked. */
  confirmPerson(queryable: Queryable, person: SessionOfPerson): Promise<Session>
  /** Returns the sessions of the caller's key, or of all keys of its account or project if it can manage that; newest first. */
  list(caller: Caller): Promise<Session[]>
  end(caller: Caller, sessionId: string): Promise<Session>
  /**
   * Continues the session of the caller in another project, with the rights that its key has there. Null goes back to where its key works.
   * Throws `not_found` for a project that the session must not enter.
   */
  continueInProject(caller: Caller, projectId: string | null): Promise<Session>
  /** Returns the projects that the session of the caller may continue in, by name, `Default` first. */
  listProjects(caller: Caller, filter: { search: string; limit: number }): Promise<EnterableProjects>
}

const IDLE = `interval '12 hours'`
/** For this long after the key was entered, it need not be entered again. */
const CONFIRMED = `interval '15 minutes'`
const LISTED_MAX = 200

export function createSessions({
  database,
  keys,
}: {
  database: Database
  keys: Pick<Keys, 'callerOf' | 'enterProject' | 'listEnterableProjects' | 'rolesOf' | 'ensureSessionKey'>
}): Sessions {
  return {
    start: (caller, browser) =>
      database.transaction((transaction) =>
        insertSession(transaction, caller, { ...browser, method: 'key' }),
      ),
    startForPerson: (transaction, signIn) => startForPerson(transaction, keys, signIn),
    startWithCode: async (code, browser) => {
      const key = await readSignInCode(database, code)
      // The key may have been revoked since the link was made.
      const caller = await keys.callerOf(key.accountId, key.keyId).catch((error: unknown) => {
        throw isInvalidKey(error) ? invalidCode() : error
      })
      return database.transaction(async (transaction) => {
        await redeemSignInCode(transaction, code)
        return insertSession(transaction, caller, { ...browser, method: 'link' })
      })
    },
    authenticate: async (token) => {
      const tokenHash = hashSessionToken(token)
      const [row] = tokenHash === null ? [] : await database.query<UsedRow>(USE, [tokenHash])
      if (row === undefined) throw invalidSession()
      const { account_id: accountId, key_id: keyId, project_key_id: projectKeyId } = row
      const session = { id: row.id, keyId, isConfirmed: row.is_confirmed }
      // Also in a project it needs the key that it began with.
      const [own, inProject] = await Promise.all([
        keys.callerOf(accountId, keyId),
        projectKeyId === null ? null : keys.callerOf(accountId, projectKeyId),
      ]).catch((error: unknown) => {
        throw isInvalidKey(error) ? invalidSession() : error
      })
      return Object.freeze({ ...(inProject ?? own), session })
    },
    findEnded: async (sessionIds) => {
      const valid = await database.query<{ id: string }>(
        `SELECT id FROM sessions WHERE id = ANY ($1::uuid[]) AND ${IS_VALID}`,
        [sessionIds],
      )
      const validIds = new Set(valid.map(({ id }) => id))
      return sessionIds.filter((id) => !validIds.has(id))
    },
    // The client gets the error of the sign-in, also if it cannot be noted.
    noteFailed: (attempt, error) => noteFailedSignIn(database, attempt, error).catch(() => undefined),
    confirm: async ({ accountId, session }, entered) => {
      const [row] = await database.query<SessionRow>(
        `UPDATE sessions SET confirmed_at = now() WHERE id = $1 AND account_id = $2 AND (key_id = $3 OR EXISTS (
           SELECT FROM api_keys k WHERE k.id = sessions.key_id AND k.account_id = $2 AND k.user_id = $4 AND $5)) RETURNING *`,
        [
          session?.id ?? null,
          accountId,
          entered.keyId,
          entered.userId ?? null,
          entered.accountId === accountId,
        ],
      )
      if (row === undefined)
        throw new AppError('forbidden', 'This is not the key that the session began with.')
      return sessionFromRow(row)
    },
    confirmPerson: async (queryable, { sessionId, accountId, userId }) => {
      const [row] = await queryable.query<SessionRow>(
        `UPDATE sessions SET confirmed_at = now() WHERE id = $1 AND account_id = $2 AND ${IS_VALID} AND EXISTS (
           SELECT FROM api_keys k WHERE k.id = sessions.key_id AND k.account_id = $2 AND k.user_id = $3) RETURNING *`,
        [sessionId, accountId, userId],
      )
      if (row === undefined) throw invalidSession()
      return sessionFromRow(row)
    },
    list: async (caller) => {
      const rows = await database.query<SessionRow>(
        `SELECT * FROM sessions WHERE account_id = $1 AND ${IS_VISIBLE} AND ${IS_VALID}
         ORDER BY id DESC LIMIT ${LISTED_MAX}`,
        [caller.accountId, visibleKeyOf(caller), caller.projectId, caller.session?.id ?? null],
      )
      return rows.map(sessionFromRow)
    },
    end: async (caller, sessionId) => {
      if (!isUuid(sessionId)) throw notFound('session')
      return database.transaction(async (transaction) => {
        const [row] = await transaction.query<SessionRow>(
          `DELETE FROM sessions WHERE account_id = $1 AND ${IS_VISIBLE} AND id = $5 RETURNING *`,
          [caller.accountId, visibleKeyOf(caller), caller.projectId, caller.session?.id ?? null, sessionId],
        )
        if (row === undefined) throw notFound('session')
        const { projectId } = caller
        await recordChange(transaction, {
          actor: caller,
          type: 'logout.succeeded',
          projectId,
          resourceId: row.id,
        })
        return sessionFromRow(row)
      })
    },
    continueInProject: async (caller, projectId) => {
      const session = await continueInProject({ database, keys }, caller, projectId)
      if (session === null) throw invalidSession()
      return session
    },
    listProjects: ({ accountId, keyId, session }, filter) =>
      keys.listEnterableProjects({ accountId, keyId: session?.keyId ?? keyId }, filter),
  }
}

/** Deletes sessions that have ended, and sign-in codes that have expired. */
export async function sweepSessions(queryable: Queryable): Promise<void> {
  await queryable.query(`DELETE FROM sessions WHERE NOT (${IS_VALID})`)
  await sweepSignInCodes(queryable)
}

function isInvalidKey(error: unknown): boolean {
  return error instanceof AppError && error.code === 'invalid_api_key'
}

/**
 * Of account $1: session $4, and those that began with key $2 and with a key of project $3, unless they are null. Whoever manages a project
 * does not see the sessions of the account's keys that continue in it.
 */
const IS_VISIBLE = `(id = $4 OR ($2::uuid IS NULL OR key_id = $2)
  AND ($3::uuid IS NULL OR key_id IN (SELECT id FROM api_keys WHERE account_id = $1 AND project_id = $3)))`

const IS_VALID = `expires_at > now() AND last_used_at > now() - ${IDLE}`

// The time of the last use is written once a minute, so that a page with many requests causes few writes.
const USE = `
  WITH used AS (
    UPDATE sessions SET last_used_at = now()
    WHERE token_hash = $1 AND ${IS_VALID} AND last_used_at < now() - interval '1 minute'
  )
  SELECT id, account_id, key_id, project_key_id, confirmed_at > now() - ${CONFIRMED} AS is_confirmed
  FROM sessions WHERE token_hash = $1 AND ${IS_VALID}`

interface UsedRow {
  readonly id: string
  readonly account_id: string
  readonly key_id: string
  readonly project_key_id: string | null
  readonly is_confirmed: boolean
}

/** Null for all keys of the account. */
function visibleKeyOf(caller: Caller): string | null {
  const { permissions, keyId } = caller
  return permissions.has('keys.manage') || permissions.has('gateway.manage') ? null : keyId
}

/** The error of a request whose session has ended. */
export function invalidSession(): AppError {
  return new AppError('invalid_session', 'The session has ended. Sign in again.')
}
