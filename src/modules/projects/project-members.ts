import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import type { ProjectOptions } from './project-options.ts'
import { readProject, requireActive } from './read-project.ts'

export const PROJECT_ROLES = ['owner', 'member', 'viewer'] as const
type ProjectRole = (typeof PROJECT_ROLES)[number]

/** A person in a project. */
export interface ProjectMember {
  /** Of the person. */
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly role: string
  readonly addedAtMs: number
}

interface ProjectPlace {
  readonly caller: Caller
  readonly projectId: string
}

/** All functions throw `not_found` for a project of another account, and for a person who is not in it. */
export interface ProjectMembers {
  list(accountId: string, projectId: string, page: PageRequest): Promise<OpenPage<ProjectMember>>
  read(accountId: string, projectId: string, userId: string): Promise<ProjectMember>
  /** Adds a member of the account, named by id or e-mail address. */
  add(place: ProjectPlace, person: PersonName, role: ProjectRole): Promise<ProjectMember>
  changeRole(place: ProjectPlace, userId: string, role: ProjectRole): Promise<ProjectMember>
  /** Returns after every process refuses the person's keys in the project. */
  remove(place: ProjectPlace, userId: string): Promise<void>
}

type PersonName = { readonly userId: string } | { readonly email: string }

export function createProjectMembers({ database, clock, keys }: ProjectOptions): ProjectMembers {
  return {
    list: async (accountId, projectId, { limit, afterId }) => {
      const { id } = await readProject(database, accountId, projectId)
      const rows = await database.query<MemberRow>(
        `${SELECT_MEMBER} WHERE j.project_id = $1 AND j.user_id < $2 ORDER BY j.user_id DESC LIMIT $3`,
        [id, afterId ?? ID_AFTER_ALL, limit + 1],
      )
      return openPage(rows.map(memberFromRow), limit)
    },
    read: async (accountId, projectId, userId) => {
      const { id } = await readProject(database, accountId, projectId)
      return readMember(database, id, userId)
    },
    add: async (place, person, role) => {
      const { caller, projectId } = place
      const { accountId } = caller
      const member = await database.transaction(async (transaction) => {
        await requireActive(transaction, accountId, projectId)
        await keys.requireMayGive(transaction, caller, { projectId, roles: [`project:${role}`] })
        const userId = await findAccountMember(transaction, accountId, person)
        const added = await transaction.query(
          `INSERT INTO project_members (project_id, account_id, user_id, role) VALUES ($1, $2, $3, $4)
           ON CONFLICT DO NOTHING RETURNING user_id`,
          [projectId, accountId, userId, role],
        )
        if (added.length === 0) throw new AppError('conflict', 'This person is already in the project.')
        await record(transaction, place, 'user.added', userId, { data: { role } })
        return readMember(transaction, projectId, userId)
      })
      await keys.announceAccountChange(accountId)
      return member
    },
    changeRole: async (place, userId, role) => {
      const { caller, projectId } = place
      const { accountId } = caller
      const member = await database.transaction(async (transaction) => {
        await requireActive(transaction, accountId, projectId)
        const { id, role: before } = await readMember(transaction, projectId, userId)
        const roles = [`project:${before}`, `project:${role}`]
        await keys.requireMayGive(transaction, caller, { projectId, roles })
        await transaction.query(
          'UPDATE project_members SET role = $3 WHERE project_id = $1 AND user_id = $2',
          [projectId, id, role],
        )
        await record(transaction, place, 'user.updated', id, { changes_requested: { role } })
        return readMember(transaction, projectId, id)
      })
      await keys.announceAccountChange(accountId)
      return member
    },
    remove: async (place, userId) => {
      const { caller, projectId } = place
      const { accountId } = caller
      await database.transaction(async (transaction) => {
        await requireActive(transaction, accountId, projectId)
        const { id, role } = await readMember(transaction, projectId, userId)
        await keys.requireMayGive(transaction, caller, { projectId, roles: [`project:${role}`] })
        await transaction.query('DELETE FROM project_members WHERE project_id = $1 AND user_id = $2', [
          projectId,
          id,
        ])
        // Revoked and not only refused, so that they do not come back with the person.
        await transaction.query(
          `WITH ended AS (UPDATE api_keys SET revoked_at = $4
             WHERE account_id = $1 AND project_id = $2 AND user_id = $3 AND revoked_at IS NULL RETURNING id),
           signed_out AS (DELETE FROM grants WHERE key_id IN (SELECT id FROM ended))
           DELETE FROM sessions WHERE key_id IN (SELECT id FROM ended) OR project_key_id IN (SELECT id FROM ended)`,
          [accountId, projectId, id, new Date(clock.nowMs())],
        )
        await record(transaction, place, 'user.deleted', id)
      })
      await keys.announceAccountChange(accountId)
    },
  }
}

function record(
  transaction: Queryable,
  { caller: actor, projectId }: ProjectPlace,
  type: AccountChange['type'],
  userId: string,
  details: AccountChange['details'] = {},
): Promise<void> {
  return recordChange(transaction, { actor, type, projectId, resourceId: wireId('user', userId), details })
}

interface MemberRow {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly role: string
  readonly added_at: Date
}

const SELECT_MEMBER = `
  SELECT u.id, u.email, m.name, j.role, j.added_at FROM project_members j
  JOIN users u ON u.id = j.user_id JOIN account_members m ON m.account_id = j.account_id AND m.user_id = j.user_id`

function memberFromRow({ added_at: addedAt, ...row }: MemberRow): ProjectMember {
  return { ...row, addedAtMs: addedAt.getTime() }
}

async function readMember(queryable: Queryable, projectId: string, userId: string): Promise<ProjectMember> {
  const [row] = isUuid(userId)
    ? await queryable.query<MemberRow>(`${SELECT_MEMBER} WHERE j.project_id = $1 AND j.user_id = $2`, [
        projectId,
        userId,
      ])
    : []
  if (row === undefined) throw notFound('user')
  return memberFromRow(row)
}

/** Throws the same for a person of another account as for an unknown one. */
async function findAccountMember(
  queryable: Queryable,
  accountId: string,
  person: PersonName,
): Promise<string> {
  const [statement, value] =
    'email' in person
      ? (['lower(u.email) = lower($2)', person.email] as const)
      : (['u.id = $2::uuid', isUuid(person.userId) ? person.userId : null] as const)
  const [row] = await queryable.query<{ id: string }>(
    `SELECT u.id FROM account_members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 AND ${statement}`,
    [accountId, value],
  )
  if (row === undefined) throw notFound('user')
  return row.id
}
