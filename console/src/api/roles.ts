import { call, client } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type Role = RowOf<typeof rolesQuery>
export type RolePermission = Role['permissions'][number]

/** The roles of the account, predefined ones and its own. */
export const rolesQuery = () =>
  organizationPages(['roles'], (query, signal) =>
    call(() => client.GET('/v1/organization/roles', { params: { query }, signal })),
  )

export const createRole = (name: string, permissions: RolePermission[]) =>
  call(() => client.POST('/v1/organization/roles', { body: { role_name: name, permissions } }))

export const deleteRole = (id: string) =>
  call(() => client.DELETE('/v1/organization/roles/{role_id}', { params: { path: { role_id: id } } }))
