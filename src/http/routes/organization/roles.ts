import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { PROJECT_PERMISSIONS, type Permission } from '../../../modules/keys/keys.ts'
import type { RolePlace, Roles } from '../../../modules/roles/roles.ts'
import { described } from '../../../wires/described.ts'
import { nullable } from '../../../wires/nullable.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Name } from '../account/api-key-wire.ts'
import { deletedAnswer, orderedList, OrderedListQuery } from './organization-list.ts'
import { ProjectParams } from './own-project.ts'
import {
  pageOfRoles,
  pathRole,
  PermissionName,
  placeOf,
  RoleAnswer,
  roleToWire,
  roleWireId,
} from './role-wire.ts'

const CLOSED = { additionalProperties: false }
const RoleName = described(Name, 'A name for people. No other role there has it.')
const Permissions = Type.Array(PermissionName, {
  minItems: 1,
  maxItems: 50,
  description: 'What it allows. Nobody gives what they lack.',
})
const Description = Type.String({ maxLength: 500, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })

const CreateBody = Type.Object(
  {
    role_name: RoleName,
    permissions: Permissions,
    description: nullable(Description, 'What it is for.'),
  },
  { ...CLOSED, examples: [{ role_name: 'Cost watcher', permissions: ['usage.read', 'budgets.manage'] }] },
)
const ChangeBody = Type.Object(
  {
    role_name: nullable(RoleName, 'The new name.'),
    permissions: nullable(Permissions, 'All that it allows from now on.'),
    description: nullable(Description, 'What it is for.'),
  },
  { ...CLOSED, examples: [{ permissions: ['usage.read'] }] },
)

export const RoleParams = Type.Object({
  role_id: Type.String({ maxLength: 100, description: 'The id of a role: `role_…`.' }),
})

export const roleRoutes = ({ roles }: { roles: Roles }): Route[] => [
  ...routesOf(roles, 'account', '/v1/organization/roles'),
  ...routesOf(roles, 'project', '/v1/projects/:project_id/roles'),
]

function routesOf(roles: Roles, where: 'account' | 'project', at: string): Route[] {
  const access = where === 'account' ? inAccount : inProject
  const of = where === 'account' ? 'the account' : 'a project'
  const Params: typeof ProjectParams | undefined = where === 'account' ? undefined : ProjectParams
  const params = Params === undefined ? {} : { params: Params }
  const One = Type.Object({
    ...(where === 'account' ? {} : ProjectParams.properties),
    ...RoleParams.properties,
  })
  const placeIn = (caller: Parameters<typeof placeOf>[0], given: unknown) =>
    placeOf(caller, where === 'account' ? undefined : memberOf(given, 'project_id'))
  return [
    defineRoute({
      tag: 'Organization',
      access: access('organization.read'),
      method: 'GET',
      path: at,
      summary: `List the roles of ${of}`,
      ...params,
      query: OrderedListQuery,
      responses: {
        200: {
          description: 'Predefined roles count as the oldest.',
          schema: orderedList(where === 'account' ? 'RoleList' : 'ProjectRoleList', RoleAnswer),
        },
      },
      handle: async ({ caller, params: given, query }) => {
        const place = placeIn(caller, given)
        return pageOfRoles(await roles.list(place), query, (role) => roleToWire(role, place))
      },
    }),
    defineRoute({
      tag: 'Organization',
      access: access('members.manage'),
      method: 'POST',
      path: at,
      summary: `Create a role of ${of}`,
      ...params,
      body: CreateBody,
      responses: { 200: { description: 'The role, which nobody has yet.', schema: RoleAnswer } },
      handle: async ({ caller, params: given, body }) => {
        const place = placeIn(caller, given)
        requirePossible(place, body.permissions)
        const draft = {
          name: body.role_name,
          permissions: distinct(body.permissions),
          description: body.description ?? null,
        }
        return roleToWire(await roles.create(place, draft), place)
      },
    }),
    defineRoute({
      tag: 'Organization',
      access: access('organization.read'),
      method: 'GET',
      path: `${at}/:role_id`,
      summary: `Read a role of ${of}`,
      params: One,
      responses: { 200: { description: 'The role.', schema: RoleAnswer } },
      handle: async ({ caller, params: given }) => {
        const place = placeIn(caller, given)
        return roleToWire(await roles.read(place, pathRole(given.role_id)), place)
      },
    }),
    defineRoute({
      tag: 'Organization',
      access: access('members.manage'),
      method: 'POST',
      path: `${at}/:role_id`,
      summary: `Change a role of ${of}`,
      params: One,
      body: ChangeBody,
      responses: {
        200: { description: 'The role. All who have it have what it allows now.', schema: RoleAnswer },
      },
      handle: async ({ caller, params: given, body }) => {
        const place = placeIn(caller, given)
        if (body.permissions) requirePossible(place, body.permissions)
        return roleToWire(await roles.update(place, pathRole(given.role_id), changesOf(body)), place)
      },
    }),
    defineRoute({
      tag: 'Organization',
      access: access('members.manage'),
      method: 'DELETE',
      path: `${at}/:role_id`,
      summary: `Delete a role of ${of}`,
      params: One,
      responses: {
        200: { description: 'Nobody has it any more.', schema: deletedAnswer('role.deleted') },
      },
      handle: async ({ caller, params: given }) => {
        const place = placeIn(caller, given)
        const role = await roles.read(place, pathRole(given.role_id))
        await roles.delete(place, role.id)
        return { object: 'role.deleted', id: roleWireId(role), deleted: true }
      },
    }),
  ]
}

/** Routes of several places have parameters that their common type does not know. */
export function memberOf(params: unknown, name: string): string {
  const value: unknown = Object(params)[name]
  return typeof value === 'string' ? value : ''
}

function changesOf({ role_name: name, permissions, description }: Static<typeof ChangeBody>) {
  return {
    ...(typeof name === 'string' && { name }),
    ...(permissions && { permissions: distinct(permissions) }),
    ...(description !== undefined && { description }),
  }
}

function distinct(permissions: readonly Permission[]): Permission[] {
  return [...new Set(permissions)]
}

function requirePossible({ projectId }: RolePlace, permissions: readonly Permission[]): void {
  if (projectId === null || permissions.every((permission) => PROJECT_PERMISSIONS.includes(permission)))
    return
  throw invalidValue('permissions', 'A role of a project cannot allow what concerns the whole account.')
}
