import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { ACCOUNT_PERMISSIONS, type Caller } from '../../../modules/keys/keys.ts'
import type { Role, RolePlace } from '../../../modules/roles/roles.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { orderedListOf, type OrderedListQuery, PAGE_LIMIT } from './organization-list.ts'
import { ownProject } from './own-project.ts'

export const PermissionName = Type.Enum([...ACCOUNT_PERMISSIONS], {
  description: 'What it allows is in docs/rights.md.',
})

const members = {
  id: Id,
  name: Type.String({ description: 'The name of the role.' }),
  description: orNull(Type.String(), 'What it is for.'),
  permissions: Type.Array(PermissionName, { description: 'What it allows.' }),
  resource_type: Type.Enum(['api.organization', 'api.project'], {
    description: 'Whether it is a role in the account or in one project.',
  }),
  predefined_role: Type.Boolean({ description: 'True for the roles that every account or project has.' }),
}

export const RoleAnswer = Type.Object({ object: objectName('role'), ...members }, { title: 'Role' })

const Absent = (what: string) => Type.Null({ description: `Always null: ${what}` })

export const AssignedRoleAnswer = Type.Object(
  {
    ...members,
    created_at: orNull(Type.Integer(), 'When the role was made, in seconds. Null for a predefined one.'),
    updated_at: orNull(Type.Integer(), 'When the role last changed, in seconds. Null for a predefined one.'),
    created_by: Absent('it is in the audit log.'),
    created_by_user_obj: Absent('it is in the audit log.'),
    metadata: Absent('roles have none.'),
    assignment_sources: Type.Array(
      Type.Object({
        principal_type: Type.Enum(['user', 'group'], { description: 'What has the role.' }),
        principal_id: Type.String({ description: 'Its id.' }),
      }),
      { description: 'To whom the role was given.' },
    ),
  },
  { title: 'AssignedRole' },
)

export function roleToWire(role: Role, { projectId }: RolePlace): Static<typeof RoleAnswer> {
  return {
    object: 'role',
    id: roleWireId(role),
    name: role.name,
    description: role.description,
    permissions: role.permissions.filter((name) => name !== 'gateway.read' && name !== 'gateway.manage'),
    resource_type: projectId === null ? 'api.organization' : 'api.project',
    predefined_role: role.isPredefined,
  }
}

export function roleWireId({ id, isPredefined }: Role): string {
  return isPredefined ? `role_${id}` : wireId('role', id)
}

/** Returns the id of an own role, or the name of a predefined one. A text that is neither is 404. */
export function pathRole(text: string): string {
  const id = parseWireId('role', text)
  if (id !== null) return id
  const name = /^(?:role_)?([a-z]{1,20})$/.exec(text)?.[1]
  if (name === undefined) throw notFound('role')
  return name
}

export function placeOf(caller: Caller, projectId: string | undefined): RolePlace & { caller: Caller } {
  const { accountId } = caller
  return { caller, accountId, projectId: projectId === undefined ? null : ownProject(caller, projectId) }
}

/** A page of roles that were read as a whole: there are few. */
export function pageOfRoles(
  roles: readonly Role[],
  query: Static<typeof OrderedListQuery>,
  toWire: (role: Role) => object,
): Record<string, unknown> {
  const { limit = PAGE_LIMIT, after, order = 'desc' } = query
  const ordered = order === 'asc' ? roles : roles.toReversed()
  const start = after === undefined ? 0 : ordered.findIndex((role) => roleWireId(role) === after) + 1
  const items = ordered.slice(start, start + limit)
  return orderedListOf({ items, hasMore: ordered.length > start + limit }, toWire, roleWireId)
}
