import { Type } from 'typebox'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { Groups } from '../../../modules/groups/groups.ts'
import type { People } from '../../../modules/people/people.ts'
import type { Role, RoleHolder, RolePlace, Roles } from '../../../modules/roles/roles.ts'
import { described } from '../../../wires/described.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { GroupParams } from './groups.ts'
import { orderedList, OrderedListQuery, unixSeconds } from './organization-list.ts'
import { pathId, ProjectParams } from './own-project.ts'
import { AssignedRoleAnswer, pageOfRoles, pathRole, placeOf, RoleAnswer, roleToWire } from './role-wire.ts'
import { memberOf, RoleParams } from './roles.ts'
import { UserAnswer, UserParams, userToWire } from './users.ts'

interface Parts {
  readonly roles: Roles
  readonly people: People
  readonly groups: Groups
}

type HolderKind = RoleHolder['kind']

const AssignBody = Type.Object(
  { role_id: Type.String({ maxLength: 100, description: 'The id of a role of the same place: `role_…`.' }) },
  { additionalProperties: false, examples: [{ role_id: 'role_billing' }] },
)
const ProjectAssignBody = Type.Object(AssignBody.properties, {
  additionalProperties: false,
  examples: [{ role_id: 'role_viewer' }],
})

const UserRoleAnswer = Type.Object({
  object: objectName('user.role'),
  user: described(UserAnswer, 'The person.'),
  role: described(RoleAnswer, 'The role.'),
})
const GroupRoleAnswer = Type.Object({
  object: objectName('group.role'),
  group: Type.Object(
    {
      object: objectName('group'),
      id: Id,
      name: Type.String({ description: 'The name of the group.' }),
      created_at: Type.Integer({ description: 'In seconds.' }),
      scim_managed: Type.Literal(false, { description: 'Always false: no directory manages groups here.' }),
    },
    { description: 'The group.' },
  ),
  role: described(RoleAnswer, 'The role.'),
})
const deleted = (kind: HolderKind) =>
  Type.Object({
    object: objectName(`${kind}.role.deleted`),
    deleted: Type.Literal(true, { description: 'Whether the role is taken away now.' }),
  })

export const roleAssignmentRoutes = (parts: Parts): Route[] => [
  ...routesOf(parts, 'user', '/v1/organization/users/:user_id/roles'),
  ...routesOf(parts, 'group', '/v1/organization/groups/:group_id/roles'),
  ...routesOf(parts, 'user', '/v1/projects/:project_id/users/:user_id/roles'),
  ...routesOf(parts, 'group', '/v1/projects/:project_id/groups/:group_id/roles'),
]

function routesOf(parts: Parts, kind: HolderKind, at: string): Route[] {
  const { assignments } = parts.roles
  const isOfProject = at.startsWith('/v1/projects/')
  const access = isOfProject ? inProject : inAccount
  const where = isOfProject ? ' in a project' : ''
  const params = {
    ...(isOfProject ? ProjectParams.properties : {}),
    ...(kind === 'user' ? UserParams.properties : GroupParams.properties),
  }
  const All = Type.Object(params)
  const One = Type.Object({ ...params, ...RoleParams.properties })
  const placeIn = (caller: Caller, given: unknown) =>
    placeOf(caller, isOfProject ? memberOf(given, 'project_id') : undefined)
  return [
    defineRoute({
      tag: 'Organization',
      access: access('organization.read'),
      method: 'GET',
      path: at,
      summary: `List the roles of a ${kind}${where}`,
      params: All,
      query: OrderedListQuery,
      responses: {
        200: {
          description: 'Its roles. That of the membership counts as the oldest.',
          schema: orderedList(
            `${isOfProject ? 'Project' : ''}${kind === 'user' ? 'User' : 'Group'}RoleList`,
            AssignedRoleAnswer,
          ),
        },
      },
      handle: async ({ caller, params: given, query }) => {
        const place = placeIn(caller, given)
        const holder = holderOf(kind, given)
        const found = await assignments.list(place, holder)
        return pageOfRoles(found, query, (role) => assignedToWire(role, place, holder))
      },
    }),
    defineRoute({
      tag: 'Organization',
      access: access('members.manage'),
      method: 'POST',
      path: at,
      summary: `Give a role to a ${kind}${where}`,
      params: All,
      body: isOfProject ? ProjectAssignBody : AssignBody,
      responses: {
        200: {
          description: 'The role counts on every process.',
          schema: kind === 'user' ? UserRoleAnswer : GroupRoleAnswer,
        },
      },
      handle: async ({ caller, params: given, body }) => {
        const place = placeIn(caller, given)
        const holder = holderOf(kind, given)
        const role = roleToWire(await assignments.add(place, holder, pathRole(body.role_id)), place)
        return { object: `${kind}.role`, ...(await describeHolder(parts, caller.accountId, holder)), role }
      },
    }),
    defineRoute({
      tag: 'Organization',
      access: access('organization.read'),
      method: 'GET',
      path: `${at}/:role_id`,
      summary: `Read a role of a ${kind}${where}`,
      params: One,
      responses: { 200: { description: 'The role.', schema: AssignedRoleAnswer } },
      handle: async ({ caller, params: given }) => {
        const place = placeIn(caller, given)
        const holder = holderOf(kind, given)
        return assignedToWire(await assignments.read(place, holder, pathRole(given.role_id)), place, holder)
      },
    }),
    defineRoute({
      tag: 'Organization',
      access: access('members.manage'),
      method: 'DELETE',
      path: `${at}/:role_id`,
      summary: `Take a role from a ${kind}${where}`,
      params: One,
      responses: {
        200: {
          description: 'What only the role allowed is refused on every process.',
          schema: deleted(kind),
        },
      },
      handle: async ({ caller, params: given }) => {
        const place = placeIn(caller, given)
        await assignments.remove(place, holderOf(kind, given), pathRole(given.role_id))
        return { object: `${kind}.role.deleted`, deleted: true }
      },
    }),
  ]
}

function holderOf(kind: HolderKind, params: unknown): RoleHolder {
  return { kind, id: pathId(kind, memberOf(params, `${kind}_id`)) }
}

async function describeHolder(
  { people, groups }: Parts,
  accountId: string,
  { kind, id }: RoleHolder,
): Promise<object> {
  if (kind === 'user') return { user: userToWire(await people.read(accountId, id)) }
  const { name, createdAtMs } = await groups.read(accountId, id)
  const created_at = unixSeconds(createdAtMs)
  return { group: { object: 'group', id: wireId('group', id), name, created_at, scim_managed: false } }
}

function assignedToWire(role: Role, place: RolePlace, { kind, id }: RoleHolder): object {
  const { object: _, ...named } = roleToWire(role, place)
  return {
    ...named,
    created_at: role.createdAtMs === null ? null : unixSeconds(role.createdAtMs),
    updated_at: role.updatedAtMs === null ? null : unixSeconds(role.updatedAtMs),
    created_by: null,
    created_by_user_obj: null,
    metadata: null,
    assignment_sources: [{ principal_type: kind, principal_id: wireId(kind, id) }],
  }
}
