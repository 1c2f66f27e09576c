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

export const changeRole = (id: string, name: string, permissions: RolePermission[]) =>
  call(() =>
    client.POST('/v1/organization/roles/{role_id}', {
      params: { path: { role_id: id } },
      body: { role_name: name, permissions },
    }),
  )

/** Who has roles in the account. */
export interface RoleHolder {
  readonly kind: 'user' | 'group'
  readonly id: string
}

export const heldRolesQuery = ({ kind, id }: RoleHolder) =>
  organizationPages(['roles', 'of', id], (query, signal) =>
    kind === 'user'
      ? call(() =>
          client.GET('/v1/organization/users/{user_id}/roles', {
            params: { path: { user_id: id }, query },
            signal,
          }),
        )
      : call(() =>
          client.GET('/v1/organization/groups/{group_id}/roles', {
            params: { path: { group_id: id }, query },
            signal,
          }),
        ),
  )

export const giveRole = ({ kind, id }: RoleHolder, roleId: string): Promise<unknown> =>
  kind === 'user'
    ? call(() =>
        client.POST('/v1/organization/users/{user_id}/roles', {
          params: { path: { user_id: id } },
          body: { role_id: roleId },
        }),
      )
    : call(() =>
        client.POST('/v1/organization/groups/{group_id}/roles', {
          params: { path: { group_id: id } },
          body: { role_id: roleId },
        }),
      )

export const takeRole = ({ kind, id }: RoleHolder, roleId: string): Promise<unknown> =>
  kind === 'user'
    ? call(() =>
        client.DELETE('/v1/organization/users/{user_id}/roles/{role_id}', {
          params: { path: { user_id: id, role_id: roleId } },
        }),
      )
    : call(() =>
        client.DELETE('/v1/organization/groups/{group_id}/roles/{role_id}', {
          params: { path: { group_id: id, role_id: roleId } },
        }),
      )
