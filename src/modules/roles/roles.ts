import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller, Permission } from '../keys/keys.ts'
import type { RolesOptions } from './role-options.ts'
import { createRoleAssignments, type RoleAssignments } from './role-assignments.ts'
import {
  findPredefined,
  giftOf,
  predefinedRoles,
  ROLE_COLUMNS,
  roleFromRow,
  type Role,
  type RolePlace,
  type RoleRow,
} from './role-record.ts'

export type { RoleHolder } from './role-assignments.ts'
export type { Role, RolePlace } from './role-record.ts'

/** Of an account, and of each project. Lists are read as a whole. */
const ROLES_MAX = 100

interface RoleDraft {
  readonly name: string
  readonly description: string | null
  readonly permissions: readonly Permission[]
}

type CallerPlace = RolePlace & { readonly caller: Caller }

/** Every function throws `not_found` for a project of another account, and for a role of another place. */
export interface Roles {
  /** The predefined roles first, then those that people made, in their order. */
  list(place: RolePlace): Promise<readonly Role[]>
  read(place: RolePlace, roleId: string): Promise<Role>
  create(place: CallerPlace, draft: RoleDraft): Promise<Role>
  /** Returns after every process has applied it to the keys of all who have the role. */
  update(place: CallerPlace, roleId: string, changes: Partial<RoleDraft>): Promise<Role>
  /** Takes the role from all who have it. */
  delete(place: CallerPlace, roleId: string): Promise<void>
  readonly assignments: RoleAssignments
}

export function createRoles(options: RolesOptions): Roles {
  const { database, clock, keys } = options
  return {
    list: async (place) => {
      await requirePlace(database, place)
      return [...predefinedRoles(place), ...(await readOwnRoles(database, place))]
    },
    read: async (place, roleId) => {
      await requirePlace(database, place)
      return readRole(database, place, roleId)
    },
    create: ({ caller, ...place }, draft) =>
      database.transaction(async (transaction) => {
        await requirePlace(transaction, place)
        await keys.requireMayGive(transaction, caller, {
          projectId: place.projectId,
          roles: draft.permissions,
        })
        await lockNames(transaction, place)
        const others = await readOwnRoles(transaction, place)
        requireFreeName(place, others, draft.name)
        if (others.length >= ROLES_MAX)
          throw new AppError('conflict', `An account or project has at most ${ROLES_MAX} roles of its own.`)
        const nowMs = clock.nowMs()
        const [row] = await transaction.query<RoleRow>(
          `INSERT INTO roles (id, account_id, project_id, name, description, permissions, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING ${ROLE_COLUMNS}`,
          [
            createId(nowMs),
            place.accountId,
            place.projectId,
            draft.name,
            draft.description,
            draft.permissions,
            new Date(nowMs),
          ],
        )
        if (row === undefined) throw new Error('a role was not stored')
        const { name, permissions } = draft
        await record(transaction, { caller, ...place }, 'role.created', row.id, {
          data: { role_name: name, permissions },
        })
        return roleFromRow(row)
      }),
    update: async ({ caller, ...place }, roleId, changes) => {
      const changed = await database.transaction(async (transaction) => {
        await requirePlace(transaction, place)
        await lockNames(transaction, place)
        const before = await readRole(transaction, place, roleId)
        requireOwn(before)
        const after = { ...before, ...changes }
        await keys.requireMayGive(transaction, caller, giftOf(place, [before, after]))
        const others = await readOwnRoles(transaction, place)
        requireFreeName(
          place,
          others.filter(({ id }) => id !== before.id),
          after.name,
        )
        const [row] = await transaction.query<RoleRow>(
          `UPDATE roles SET name = $2, description = $3, permissions = $4, updated_at = $5 WHERE id = $1
           RETURNING ${ROLE_COLUMNS}`,
          [before.id, after.name, after.description, after.permissions, new Date(clock.nowMs())],
        )
        if (row === undefined) throw notFound('role')
        const { name: role_name, description, permissions } = changes
        await record(transaction, { caller, ...place }, 'role.updated', row.id, {
          changes_requested: { role_name, description, permissions },
        })
        return roleFromRow(row)
      })
      await keys.announceAccountChange(place.accountId)
      return changed
    },
    delete: async ({ caller, ...place }, roleId) => {
      await database.transaction(async (transaction) => {
        await requirePlace(transaction, place)
        await lockNames(transaction, place)
        const role = await readRole(transaction, place, roleId)
        requireOwn(role)
        await keys.requireMayGive(transaction, caller, giftOf(place, [role]))
        await transaction.query('DELETE FROM roles WHERE id = $1', [role.id])
        await record(transaction, { caller, ...place }, 'role.deleted', role.id)
      })
      await keys.announceAccountChange(place.accountId)
    },
    assignments: createRoleAssignments(options, { requirePlace, readRole }),
  }
}

function record(
  transaction: Queryable,
  { caller: actor, projectId }: CallerPlace,
  type: AccountChange['type'],
  roleId: string,
  details: AccountChange['details'] = {},
): Promise<void> {
  return recordChange(transaction, { actor, type, projectId, resourceId: wireId('role', roleId), details })
}

/** Two roles at once must not get the same name, nor go beyond the limit, and a role must not change while somebody gets it. */
async function lockNames(transaction: Queryable, { accountId }: RolePlace): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('roles ' || $1, 0))`, [accountId])
}

async function requirePlace(queryable: Queryable, { accountId, projectId }: RolePlace): Promise<void> {
  if (projectId === null) return
  const [project] = await queryable.query<{ archived_at: Date | null }>(
    'SELECT archived_at FROM projects WHERE id = $1 AND account_id = $2',
    [projectId, accountId],
  )
  if (project === undefined) throw notFound('project')
}

async function readOwnRoles(queryable: Queryable, { accountId, projectId }: RolePlace): Promise<Role[]> {
  const rows = await queryable.query<RoleRow>(
    `SELECT ${ROLE_COLUMNS} FROM roles WHERE account_id = $1 AND project_id IS NOT DISTINCT FROM $2::uuid ORDER BY id LIMIT $3`,
    [accountId, projectId, ROLES_MAX],
  )
  return rows.map(roleFromRow)
}

async function readRole(queryable: Queryable, place: RolePlace, roleId: string): Promise<Role> {
  const predefined = findPredefined(place, roleId)
  if (predefined !== null) return predefined
  const [row] = isUuid(roleId)
    ? await queryable.query<RoleRow>(
        `SELECT ${ROLE_COLUMNS} FROM roles
         WHERE id = $1 AND account_id = $2 AND project_id IS NOT DISTINCT FROM $3::uuid`,
        [roleId, place.accountId, place.projectId],
      )
    : []
  if (row === undefined) throw notFound('role')
  return roleFromRow(row)
}

function requireOwn({ isPredefined }: Role): void {
  if (isPredefined) throw new AppError('conflict', 'Predefined roles stay as they are. Make one of your own.')
}

/** A role with the name of a predefined one would deceive people. */
function requireFreeName(place: RolePlace, others: readonly Role[], name: string): void {
  const plain = name.trim().toLowerCase()
  const isTaken = [...predefinedRoles(place), ...others].some(
    (role) => role.name.trim().toLowerCase() === plain,
  )
  if (isTaken) throw new AppError('conflict', 'Another role has this name.', { param: 'role_name' })
}
