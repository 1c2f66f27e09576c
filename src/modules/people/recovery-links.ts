import { randomBytes } from 'node:crypto'
import { AppError } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import { permissionsOfRoles, type Caller } from '../keys/keys.ts'
import type { Browser } from '../sessions/sessions.ts'
import type { Entered } from './accept-invite.ts'
import { readAccountMember, type AccountMember } from './account-member.ts'
import { hashCode } from './hash-code.ts'
import type { PeopleOptions } from './people-options.ts'
import { endSessionsOf, recordEnded } from './end-sessions.ts'

/** A link that lets a member in once, for somebody who has lost every way in. */
interface RecoveryLink {
  readonly member: AccountMember
  readonly code: string
  readonly expiresAtMs: number
}

export interface Recovery {
  /**
   * Makes a link for a member, which replaces an earlier one. Whoever holds it is the member, so the caller needs every permission that the
   * member has, in the account and in all of its projects.
   */
  create(caller: Caller, userId: string, order: { endsPasskeys: boolean }): Promise<RecoveryLink>
}

const LIFE_MS = 24 * 60 * 60 * 1000
const CODE_BYTES = 32

export function createRecovery({ database, clock, keys }: PeopleOptions): Recovery {
  return {
    create: async (caller, userId, { endsPasskeys }) => {
      const { accountId, environment } = caller
      const member = await readAccountMember(database, accountId, userId)
      if (!member.isActive)
        throw new AppError('conflict', 'This person is deactivated, so no link would let them in.')
      const code = randomBytes(CODE_BYTES).toString('base64url')
      const nowMs = clock.nowMs()
      const expiresAtMs = nowMs + LIFE_MS
      await database.transaction(async (transaction) => {
        for (const place of await rolesEverywhere(transaction, keys, { accountId, userId: member.id })) {
          await keys.requireMayGive(transaction, caller, place)
          requireGateway(caller, place.roles)
        }
        await transaction.query(
          `INSERT INTO recovery_links (id, account_id, user_id, code_hash, ends_passkeys, environment, made_by, may_operate, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $10, $8, $9)
           ON CONFLICT (account_id, user_id) DO UPDATE SET id = excluded.id, code_hash = excluded.code_hash,
             ends_passkeys = excluded.ends_passkeys, environment = excluded.environment, made_by = excluded.made_by,
             may_operate = excluded.may_operate, created_at = excluded.created_at, expires_at = excluded.expires_at`,
          [
            createId(nowMs),
            accountId,
            member.id,
            hashCode(code),
            endsPasskeys,
            environment,
            caller.userId ?? null,
            new Date(nowMs),
            new Date(expiresAtMs),
            caller.permissions.has('gateway.manage'),
          ],
        )
        await recordChange(transaction, {
          actor: caller,
          type: 'recovery_link.created',
          projectId: null,
          resourceId: wireId('user', member.id),
          details: { data: { ends_passkeys: endsPasskeys } },
        })
      })
      return { member, code, expiresAtMs }
    },
  }
}

interface OpenLink {
  readonly account_id: string
  readonly account_name: string
  readonly user_id: string
  readonly email: string
  readonly name: string | null
  readonly expires_at: Date
}

export async function findOpenLink(
  queryable: Queryable,
  codeHash: Buffer,
  nowMs: number,
): Promise<OpenLink | null> {
  const [row] = await queryable.query<OpenLink>(
    `SELECT l.account_id, a.name AS account_name, l.user_id, u.email, m.name, l.expires_at
     FROM recovery_links l JOIN accounts a ON a.id = l.account_id JOIN users u ON u.id = l.user_id
       JOIN account_members m ON m.account_id = l.account_id AND m.user_id = l.user_id
     WHERE l.code_hash = $1 AND l.expires_at > $2 AND u.status = 'active' AND m.suspended_at IS NULL`,
    [codeHash, new Date(nowMs)],
  )
  return row ?? null
}

interface LinkAnswer {
  readonly codeHash: Buffer
  readonly browser: Browser
  readonly nowMs: number
}

interface LinkRow {
  readonly account_id: string
  readonly user_id: string
  readonly ends_passkeys: boolean
  readonly environment: string
  readonly made_by: string | null
  readonly may_operate: boolean
}

/** Returns null if the code is unknown, used, replaced or expired, or if whoever made the link could not make it any more. */
export async function useRecoveryLink(
  transaction: Queryable,
  { keys, sessions }: Pick<PeopleOptions, 'keys' | 'sessions'>,
  { codeHash, browser, nowMs }: LinkAnswer,
): Promise<Entered | null> {
  const [link] = await transaction.query<LinkRow>(
    `DELETE FROM recovery_links WHERE code_hash = $1 AND expires_at > $2
     RETURNING account_id, user_id, ends_passkeys, environment, made_by, may_operate`,
    [codeHash, new Date(nowMs)],
  )
  if (link === undefined || !(await isStillAllowed(transaction, keys, link))) return null
  const { account_id: accountId, user_id: userId, ends_passkeys: endsOthers, environment } = link
  const resourceId = wireId('user', userId)
  const endedIds = endsOthers ? await endSessionsOf(transaction, { accountId, userId }) : []
  if (endsOthers)
    await transaction.query('DELETE FROM passkeys WHERE account_id = $1 AND user_id = $2', [
      accountId,
      userId,
    ])
  const tools = endsOthers ? await endTools(transaction, { accountId, userId }) : []
  const session = await sessions.startForPerson(transaction, {
    accountId,
    userId,
    environment,
    ...browser,
    method: 'link',
  })
  const actor = { accountId, keyId: session.keyId, session, origin: browser }
  await recordEnded(transaction, actor, endedIds)
  for (const { id, client_id, project_id: projectId } of tools)
    await recordChange(transaction, {
      actor,
      type: 'grant.deleted',
      projectId,
      resourceId: wireId('grant', id),
      details: { data: { client_id } },
    })
  await recordChange(transaction, {
    actor,
    type: 'recovery_link.used',
    projectId: null,
    resourceId,
    details: { data: { ends_passkeys: endsOthers } },
  })
  return { accountId, userId, session, ...(endsOthers && { endsTools: true }) }
}

/** Signs out the tools that a thief may have signed in. */
function endTools(
  transaction: Queryable,
  { accountId, userId }: Member,
): Promise<{ id: string; client_id: string; project_id: string | null }[]> {
  return transaction.query(
    'DELETE FROM grants WHERE account_id = $1 AND user_id = $2 RETURNING id, client_id, project_id',
    [accountId, userId],
  )
}

type RolesOf = Pick<PeopleOptions['keys'], 'rolesOf'>

interface Member {
  readonly accountId: string
  readonly userId: string
}

/** The roles of a member in the account and in each of its projects. */
async function rolesEverywhere(
  queryable: Queryable,
  keys: RolesOf,
  { accountId, userId }: Member,
): Promise<{ projectId: string | null; roles: readonly string[] }[]> {
  const projects = await queryable.query<{ id: string }>(
    `SELECT p.id FROM projects p WHERE p.account_id = $1 AND p.archived_at IS NULL AND (
       EXISTS (SELECT FROM project_members m WHERE m.project_id = p.id AND m.user_id = $2)
       OR EXISTS (SELECT FROM project_groups g JOIN group_members h ON h.group_id = g.group_id AND h.user_id = $2
         WHERE g.project_id = p.id))`,
    [accountId, userId],
  )
  const places: { projectId: string | null; roles: readonly string[] }[] = []
  for (const projectId of [null, ...projects.map(({ id }) => id)])
    places.push({ projectId, roles: await keys.rolesOf(queryable, { accountId, projectId, userId }) })
  return places
}

/** A key of the account itself gives every role in the account, but does not make anybody an operator of the gateway. */
function requireGateway({ permissions }: Caller, roles: readonly string[]): void {
  for (const permission of permissionsOfRoles(roles)) {
    if (!permission.startsWith('gateway.') || permissions.has(permission)) continue
    throw new AppError(
      'forbidden',
      'This person operates the gateway. Only an operator makes a link for them.',
    )
  }
}

/** Whether the person who made the link still has what it gives. */
async function isStillAllowed(transaction: Queryable, keys: RolesOf, link: LinkRow): Promise<boolean> {
  const { account_id: accountId, user_id: userId, made_by: maker } = link
  const member = await readAccountMember(transaction, accountId, userId)
  if (!member.isActive) return false
  for (const { projectId, roles } of await rolesEverywhere(transaction, keys, { accountId, userId })) {
    const given = [...permissionsOfRoles(roles)]
    if (maker === null) {
      // The person may have been named an operator since.
      if (!link.may_operate && given.some((permission) => permission.startsWith('gateway.'))) return false
      continue
    }
    const held = permissionsOfRoles(await keys.rolesOf(transaction, { accountId, projectId, userId: maker }))
    if (!link.may_operate && !given.every((permission) => held.has(permission))) return false
  }
  return true
}
