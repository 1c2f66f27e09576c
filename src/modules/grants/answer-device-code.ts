import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller, Keys } from '../keys/keys.ts'
import { hashSecret } from './grant-secrets.ts'
import { countGuess, takeBackGuess, type Guesser } from './limit-guesses.ts'
import { invalidUserCode } from './oauth-errors.ts'
import { parseUserCode } from './user-code.ts'

/** A tool that waits for a person. */
export interface WaitingDevice {
  readonly userCode: string
  readonly clientId: string
  readonly ipAddress: string
  readonly userAgent: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export interface AnswerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<Keys, 'requireMayGive' | 'rolesOf' | 'enterProject'>
}

/** A person in a session. */
interface Person extends Guesser {
  readonly caller: Caller
  /** The key that the session began with. */
  readonly sessionKeyId: string
}

/**
 * Throws unless the request is of a person in a session, that is of a page of the gateway: nothing that holds a key or a token signs in
 * further tools.
 */
function requirePerson(caller: Caller): Person {
  const { accountId, userId = null, session } = caller
  if (session === undefined)
    throw new AppError(
      'forbidden',
      'Only a person who is signed in to the console can sign in a tool. A key or a token cannot.',
    )
  if (userId === null)
    throw new AppError(
      'forbidden',
      'This session belongs to a key of the account and to no person. Sign in as a person, or give the tool a key of its own.',
    )
  return { caller, accountId, userId, sessionKeyId: session.keyId }
}

export async function findWaitingDevice(
  { database, clock }: AnswerOptions,
  caller: Caller,
  typed: string,
): Promise<WaitingDevice> {
  const person = requirePerson(caller)
  return guess(database, { person, nowMs: clock.nowMs() }, async () => {
    const { code, row } = await findRow(database, typed)
    return deviceFromRow(code, row)
  })
}

/**
 * Lets the tool work for the person in one place, with at most what the person may do there. Returns the id of what the tool gets when it
 * asks next.
 */
export async function approveDevice(
  { database, clock, keys }: AnswerOptions,
  caller: Caller,
  { userCode: typed, projectId }: { readonly userCode: string; readonly projectId: string | null },
): Promise<{ readonly grantId: string; readonly device: WaitingDevice }> {
  const person = requirePerson(caller)
  const { accountId, userId } = person
  const grantId = createId(clock.nowMs())
  return guess(database, { person, nowMs: clock.nowMs() }, () =>
    database.transaction(async (transaction) => {
      const { code, row } = await findRow(transaction, typed, 'FOR UPDATE')
      await requirePlace(transaction, keys, person, projectId)
      await transaction.query(
        `UPDATE device_codes SET account_id = $2, user_id = $3, project_id = $4, environment = $5, grant_id = $6 WHERE user_code_hash = $1`,
        [hashSecret(code), accountId, userId, projectId, caller.environment, grantId],
      )
      const device = deviceFromRow(code, row)
      const { clientId, ipAddress } = device
      const data = { client_id: clientId, ip_address: ipAddress }
      await record(transaction, caller, { type: 'grant.created', projectId, grantId, data })
      return { grantId, device }
    }),
  )
}

export async function denyDevice(
  { database, clock }: AnswerOptions,
  caller: Caller,
  typed: string,
): Promise<WaitingDevice> {
  const person = requirePerson(caller)
  return guess(database, { person, nowMs: clock.nowMs() }, () =>
    database.transaction(async (transaction) => {
      const { code, row } = await findRow(transaction, typed, 'FOR UPDATE')
      await transaction.query('UPDATE device_codes SET denied_at = now() WHERE user_code_hash = $1', [
        hashSecret(code),
      ])
      return deviceFromRow(code, row)
    }),
  )
}

/**
 * Throws unless the person may work there, and the session may do all that the person may do there: the tool must not get more than the
 * session that approved it, which may have begun with a restricted key.
 */
async function requirePlace(
  transaction: Queryable,
  keys: AnswerOptions['keys'],
  { caller, accountId, userId, sessionKeyId }: Person,
  projectId: string | null,
): Promise<void> {
  if (projectId !== null) {
    await keys.enterProject(transaction, { accountId, keyId: sessionKeyId, projectId })
  } else if (!(await seesAccount(transaction, accountId, sessionKeyId))) throw notFound('project')
  const roles = await keys.rolesOf(transaction, { accountId, projectId, userId })
  if (roles.length === 0) throw notFound('project')
  // A tool never operates the gateway.
  const given = roles.filter((role) => !role.startsWith('gateway:'))
  await keys.requireMayGive(transaction, caller, { projectId, roles: given })
}

async function seesAccount(queryable: Queryable, accountId: string, keyId: string): Promise<boolean> {
  const [key] = await queryable.query<{ project_id: string | null }>(
    'SELECT project_id FROM api_keys WHERE id = $1 AND account_id = $2',
    [keyId, accountId],
  )
  return key?.project_id === null
}

/** Looks up a code that a person typed. Wrong ones are limited. */
async function guess<Result>(
  database: Database,
  { person, nowMs }: { person: Person; nowMs: number },
  find: () => Promise<Result>,
): Promise<Result> {
  await countGuess(database, person, nowMs)
  const isWrong = (error: unknown): boolean => error instanceof AppError && error.code === 'invalid_user_code'
  try {
    const result = await find()
    await takeBackGuess(database, person)
    return result
  } catch (error) {
    if (!isWrong(error)) await takeBackGuess(database, person)
    throw error
  }
}

interface DeviceRow {
  readonly client_id: string
  readonly ip_address: string
  readonly user_agent: string
  readonly created_at: Date
  readonly expires_at: Date
}

/** Throws the same for a code that is wrong, expired, approved or denied. */
async function findRow(
  queryable: Queryable,
  typed: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<{ code: string; row: DeviceRow }> {
  const code = parseUserCode(typed)
  if (code === null) throw invalidUserCode()
  const [row] = await queryable.query<DeviceRow>(
    `SELECT client_id, ip_address, user_agent, created_at, expires_at FROM device_codes
     WHERE user_code_hash = $1 AND expires_at > now() AND grant_id IS NULL AND denied_at IS NULL ${lock}`,
    [hashSecret(code)],
  )
  if (row === undefined) throw invalidUserCode()
  return { code, row }
}

function deviceFromRow(userCode: string, row: DeviceRow): WaitingDevice {
  return {
    userCode,
    clientId: row.client_id,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  }
}

interface GrantChange {
  readonly type: 'grant.created'
  readonly projectId: string | null
  readonly grantId: string
  readonly data: Readonly<Record<string, unknown>>
}

function record(
  transaction: Queryable,
  actor: Caller,
  { type, projectId, grantId, data }: GrantChange,
): Promise<void> {
  const resourceId = wireId('grant', grantId)
  return recordChange(transaction, { actor, type, projectId, resourceId, details: { data } })
}
