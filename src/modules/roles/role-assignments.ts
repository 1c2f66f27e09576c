import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import {
  findPredefined,
  giftOf,
  roleFromRow,
  type Role,
  type RolePlace,
  type RoleRow,
} from './role-record.ts'
import type { RolesOptions } from './role-options.ts'

/** A person or a group that has roles. */
export interface RoleHolder {
  readonly kind: 'user' | 'group'
  readonly id: string
}

type CallerPlace = RolePlace & { readonly caller: Caller }

/** All functions throw `not_found` for a person or group that is not in the place, and for a role that it does not have. */
export interface RoleAssignments {
  /** The role of the membership first. Roles that a person has by groups are those of the groups. */
  list(place: RolePlace, holder: RoleHolder): Promise<readonly Role[]>
  read(place: RolePlace, holder: RoleHolder, roleId: string): Promise<Role>
  /** Returns after every process has given the holder what the role gives. */
  add(place: CallerPlace, holder: RoleHolder, roleId: string): Promise<Role>
  /** Returns after every process has taken from the holder what the role gave. */
  remove(place: CallerPlace, holder: RoleHolder, roleId: string): Promise<void>
}

/** Limits what is read with each key. */
const ROLES_OF_HOLDER_MAX = 50

interface RoleReading {
  readonly requirePlace: (queryable: Queryable, place: RolePlace) => Promise<void>
  readonly readRole: (queryable: Queryable, place: RolePlace, roleId: string) => Promise<Role>
}

export function createRoleAssignments(
  { database, clock, keys }: RolesOptions,
  { requirePlace, readRole }: RoleReading,
): RoleAssignments {
  const list = async (queryable: Queryable, place: RolePlace, holder: RoleHolder): Promise<Role[]> => {
    await requirePlace(queryable, place)
    const base = await readBaseRole(queryable, place, holder)
    const rows = await queryable.query<RoleRow & { readonly role_name: string | null }>(
      `SELECT r.id, r.name, r.description, r.permissions, r.created_at, r.updated_at, a.role_name
       FROM role_assignments a LEFT JOIN roles r ON r.id = a.role_id
       WHERE a.account_id = $1 AND a.project_id IS NOT DISTINCT FROM $2::uuid AND ${holder.kind}_id = $3 ORDER BY a.id`,
      [place.accountId, place.projectId, holder.id],
    )
    const assigned = rows.flatMap((row) => {
      if (row.role_name === null) return [roleFromRow(row)]
      const role = findPredefined(place, row.role_name)
      return role === null ? [] : [role]
    })
    return base === null ? assigned : [base, ...assigned]
  }
  const find = async (queryable: Queryable, place: RolePlace, holder: RoleHolder, roleId: string) => {
    const { id } = await readRole(queryable, place, roleId)
    const role = (await list(queryable, place, holder)).find((one) => one.id === id)
    if (role === undefined) throw notFound('role')
    return role
  }
  return {
    list: (place, holder) => list(database, place, holder),
    read: async (place, holder, roleId) => {
      await readBaseRole(database, place, holder)
      return find(database, place, holder, roleId)
    },
    add: async ({ caller, ...place }, holder, roleId) => {
      const given = await database.transaction(async (transaction) => {
        await lockHolders(transaction, place)
        const held = await list(transaction, place, holder)
        const role = await readRole(transaction, place, roleId)
        await keys.requireMayGive(transaction, caller, giftOf(place, [role]))
        if (held.some(({ id }) => id === role.id))
          throw new AppError('conflict', `The ${holder.kind} already has this role.`, { param: 'role_id' })
        if (held.length >= ROLES_OF_HOLDER_MAX)
          throw new AppError(
            'conflict',
            `A ${holder.kind} has at most ${ROLES_OF_HOLDER_MAX} roles in a place.`,
          )
        const rows = await transaction.query(
          `INSERT INTO role_assignments (id, account_id, project_id, ${holder.kind}_id, role_id, role_name)
           VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id`,
          [
            createId(clock.nowMs()),
            place.accountId,
            place.projectId,
            holder.id,
            role.isPredefined ? null : role.id,
            role.isPredefined ? role.name : null,
          ],
        )
        if (rows.length === 0) throw new AppError('conflict', `The ${holder.kind} already has this role.`)
        await record(transaction, { caller, ...place }, 'role.assignment.created', { holder, role })
        return role
      })
      await keys.announceAccountChange(place.accountId)
      return given
    },
    remove: async ({ caller, ...place }, holder, roleId) => {
      await database.transaction(async (transaction) => {
        const base = await readBaseRole(transaction, place, holder)
        await lockHolders(transaction, place)
        const role = await find(transaction, place, holder, roleId)
        if (base?.id === role.id)
          throw new AppError('conflict', 'This is the role of the membership itself. Change it there.')
        await keys.requireMayGive(transaction, caller, giftOf(place, [role]))
        await keys.keepOwner(transaction, caller, () =>
          transaction.query(
            `DELETE FROM role_assignments WHERE account_id = $1 AND project_id IS NOT DISTINCT FROM $2::uuid
               AND ${holder.kind}_id = $3 AND coalesce(role_id::text, role_name) = $4`,
            [place.accountId, place.projectId, holder.id, role.id],
          ),
        )
        await record(transaction, { caller, ...place }, 'role.assignment.deleted', { holder, role })
      })
      await keys.announceAccountChange(place.accountId)
    },
  }
}

function record(
  transaction: Queryable,
  { caller: actor, projectId }: CallerPlace,
  type: AccountChange['type'],
  { holder, role }: { holder: RoleHolder; role: Role },
): Promise<void> {
  return recordChange(transaction, {
    actor,
    type,
    projectId,
    resourceId: role.isPredefined ? `role_${role.name}` : wireId('role', role.id),
    details: { data: { principal_type: holder.kind, principal_id: wireId(holder.kind, holder.id) } },
  })
}

/** Makes the limit hold for concurrent assignments, and a role stay as it is while somebody gets it. */
async function lockHolders(transaction: Queryable, { accountId }: RolePlace): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('roles ' || $1, 0))`, [accountId])
}

/** Returns the role of the membership. Null for a group in the account, which has none. Throws if the holder is not there. */
async function readBaseRole(
  queryable: Queryable,
  { accountId, projectId }: RolePlace,
  { kind, id }: RoleHolder,
): Promise<Role | null> {
  const [row] = isUuid(id)
    ? await queryable.query<{ role: string | null }>(
        SELECT_BASE[projectId === null ? 'account' : 'project'][kind],
        [accountId, id, ...(projectId === null ? [] : [projectId])],
      )
    : []
  if (row === undefined) throw notFound(kind)
  return row.role === null ? null : findPredefined({ accountId, projectId }, row.role)
}

const SELECT_BASE = {
  account: {
    user: 'SELECT role FROM account_members WHERE account_id = $1 AND user_id = $2',
    group: 'SELECT NULL AS role FROM groups WHERE account_id = $1 AND id = $2',
  },
  project: {
    user: 'SELECT role FROM project_members WHERE account_id = $1 AND user_id = $2 AND project_id = $3',
    group: 'SELECT role FROM project_groups WHERE account_id = $1 AND group_id = $2 AND project_id = $3',
  },
}
