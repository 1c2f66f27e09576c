import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller, EnterableProjects, Keys } from '../keys/keys.ts'
import { continueInProject } from './continue-in-project.ts'
import { insertSession, type SignIn, type StartedSession } from './insert-session.ts'
import { noteFailedSignIn, type FailedAttempt } from './note-failed-sign-in.ts'
import { SESSION_COLUMNS, sessionFromRow, type Session, type SessionRow } from './session-record.ts'
import { hashSessionToken } from './session-token.ts'
import { readPolicy, setPolicy, type PolicyChange, type SignInPolicy } from './sign-in-policy.ts'
import { startForPerson, type PersonSignIn } from './start-for-person.ts'
import { invalidCode, readSignInCode, redeemSignInCode, sweepSignInCodes } from './sign-in-codes.ts'

export { hasWayToSignIn } from './has-way-to-sign-in.ts'
export { allowsDirectory, POLICY_METHODS, type SignInPolicy } from './sign-in-policy.ts'
export { createSignInCode } from './sign-in-codes.ts'

export type { StartedSession } from './insert-session.ts'
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
  /** In which ways people sign in to the account. */
  readPolicy(accountId: string): Promise<SignInPolicy>
  setPolicy(caller: Caller, change: PolicyChange): Promise<SignInPolicy>
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
  /**
   * Returns the sessions of the caller, newest first: of a person in a session those over all their keys, of a key its own. Not only those,
   * but all of its account or project, if the caller can manage keys there.
   */
  list(caller: Caller, filter: { onlyOwn: boolean }): Promise<Session[]>
  end(caller: Caller, sessionId: string): Promise<Session>
  /** Ends the caller's own sessions but for that of the request, and returns how many. */
  endOthers(caller: Caller): Promise<number>
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
/**
 * Keys have the time of the gateway that made them, sessions that of the database. A key that was made in a session, which somebody may have
 * stolen, must not confirm it, also if the two clocks differ.
 */
const CLOCKS = `interval '2 seconds'`
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
    readPolicy: (accountId) => readPolicy(database, accountId),
    setPolicy: (caller, change) => setPolicy(database, caller, change),
    startWithCode: async (code, browser) => {
      const key = await readSignInCode(database, code)
      // The key may have been revoked since the link was made.
      const caller = await keys.callerOf(key.accountId, key.keyId).catch((error: unknown) => {
        throw isInvalidKey(error) ? invalidCode() : error
      })
      return database.transaction(async (transaction) => {
        await redeemSignInCode(transaction, code)
        return insertSession(transaction, caller, { ...browser, method: 'link' }, { isBreakGlass: true })
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
           SELECT FROM api_keys k JOIN api_keys e ON e.id = $3 AND e.created_at < sessions.created_at - ${CLOCKS}
           WHERE k.id = sessions.key_id AND k.account_id = $2 AND k.user_id = $4 AND $5)) RETURNING ${SESSION_COLUMNS}`,
        [
          session?.id ?? null,
          accountId,
          entered.keyId,
          entered.userId ?? null,
          entered.accountId === accountId,
        ],
      )
      if (row === undefined) throw new AppError('forbidden', OTHER_KEY)
      return sessionFromRow(row)
    },
    confirmPerson: async (queryable, { sessionId, accountId, userId }) => {
      const [row] = await queryable.query<SessionRow>(
        `UPDATE sessions SET confirmed_at = now() WHERE id = $1 AND account_id = $2 AND ${IS_VALID} AND EXISTS (
           SELECT FROM api_keys k WHERE k.id = sessions.key_id AND k.account_id = $2 AND k.user_id = $3) RETURNING ${SESSION_COLUMNS}`,
        [sessionId, accountId, userId],
      )
      if (row === undefined) throw invalidSession()
      return sessionFromRow(row)
    },
    list: async (caller, { onlyOwn }) => {
      const rows = await database.query<SessionRow>(
        `SELECT ${SESSION_COLUMNS} FROM sessions
         WHERE account_id = $1 AND ${onlyOwn ? IS_OWN : IS_VISIBLE} AND ${IS_VALID} ORDER BY id DESC LIMIT ${LISTED_MAX}`,
        onlyOwn ? ownOf(caller) : visibleOf(caller),
      )
      return rows.map(sessionFromRow)
    },
    end: async (caller, sessionId) => {
      if (!isUuid(sessionId)) throw notFound('session')
      return database.transaction(async (transaction) => {
        const [row] = await transaction.query<SessionRow>(
          `DELETE FROM sessions WHERE account_id = $1 AND ${IS_VISIBLE} AND id = $7 RETURNING ${SESSION_COLUMNS}`,
          [...visibleOf(caller), sessionId],
        )
        if (row === undefined) throw notFound('session')
        await recordEnd(transaction, caller, row.id)
        return sessionFromRow(row)
      })
    },
    endOthers: async (caller) =>
      database.transaction(async (transaction) => {
        const ended = await transaction.query<{ id: string }>(
          `DELETE FROM sessions WHERE account_id = $1 AND ${IS_OWN} AND id IS DISTINCT FROM $2 RETURNING id`,
          ownOf(caller),
        )
        for (const { id } of ended) await recordEnd(transaction, caller, id)
        return ended.length
      }),
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

const OTHER_KEY =
  'This is neither the key that the session began with nor one that you had before it began. Enter another one, or sign in again.'

/** Of account $1: session $2, and those that began with key $3, or with any key of person $4. */
const IS_OWN = `(id = $2 OR key_id = $3 OR key_id IN (SELECT id FROM api_keys WHERE account_id = $1 AND user_id = $4))`

/**
 * Also those that began with a key of project $5, unless it is null, if $6 says that the caller manages keys. Whoever manages a project
 * does not see the sessions of the account's keys that continue in it.
 */
const IS_VISIBLE = `(${IS_OWN} OR $6::boolean
  AND ($5::uuid IS NULL OR key_id IN (SELECT id FROM api_keys WHERE account_id = $1 AND project_id = $5)))`

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

/** A key that a person gave to a program does not see where they are signed in: only a session of theirs does. */
function ownOf({ accountId, keyId, userId, session }: Caller): (string | null)[] {
  return [
    accountId,
    session?.id ?? null,
    session?.keyId ?? keyId,
    session === undefined ? null : (userId ?? null),
  ]
}

function visibleOf(caller: Caller): (string | boolean | null)[] {
  const { permissions, projectId } = caller
  const managesKeys = permissions.has('keys.manage') || permissions.has('gateway.manage')
  return [...ownOf(caller), projectId, managesKeys]
}

function recordEnd(transaction: Queryable, caller: Caller, sessionId: string): Promise<void> {
  const { projectId } = caller
  return recordChange(transaction, {
    actor: caller,
    type: 'logout.succeeded',
    projectId,
    resourceId: sessionId,
  })
}

/** The error of a request whose session has ended. */
export function invalidSession(): AppError {
  return new AppError('invalid_session', 'The session has ended. Sign in again.')
}
