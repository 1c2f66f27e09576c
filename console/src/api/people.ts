import { call, client } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type Member = RowOf<typeof membersQuery>
export type Invite = RowOf<typeof invitesQuery>
export type Group = RowOf<typeof groupsQuery>

export const ACCOUNT_ROLES = ['owner', 'billing', 'auditor', 'reader'] as const
export type AccountRole = (typeof ACCOUNT_ROLES)[number]

export const membersQuery = () =>
  organizationPages(['people', 'members'], (query, signal) =>
    call(() => client.GET('/v1/organization/users', { params: { query }, signal })),
  )

export const changeMemberRole = (id: string, role: AccountRole) =>
  call(() =>
    client.POST('/v1/organization/users/{user_id}', { params: { path: { user_id: id } }, body: { role } }),
  )

/** Makes a link with which a member signs in who has lost every other way to do so. */
export const makeRecoveryLink = (id: string, endsPasskeys: boolean) =>
  call(() =>
    client.POST('/v1/organization/users/{user_id}/recovery_link', {
      params: { path: { user_id: id } },
      body: { end_passkeys: endsPasskeys },
    }),
  )

export const endSessionsOf = (id: string) =>
  call(() =>
    client.POST('/v1/organization/users/{user_id}/end_sessions', { params: { path: { user_id: id } } }),
  )

export const removeMember = (id: string) =>
  call(() => client.DELETE('/v1/organization/users/{user_id}', { params: { path: { user_id: id } } }))

export const invitesQuery = () =>
  organizationPages(['people', 'invites'], (query, signal) =>
    call(() => client.GET('/v1/organization/invites', { params: { query }, signal })),
  )

export const createInvite = (body: {
  email: string
  role: AccountRole
  projects: { id: string; role: 'owner' | 'member' | 'viewer' }[]
}) => call(() => client.POST('/v1/organization/invites', { body }))

export const withdrawInvite = (id: string) =>
  call(() => client.DELETE('/v1/organization/invites/{invite_id}', { params: { path: { invite_id: id } } }))

export const groupsQuery = () =>
  organizationPages(['groups', 'list'], (query, signal) =>
    call(() => client.GET('/v1/organization/groups', { params: { query }, signal })),
  )

export const createGroup = (name: string) =>
  call(() => client.POST('/v1/organization/groups', { body: { name } }))

export const renameGroup = (id: string, name: string, directoryName: string | null) =>
  call(() =>
    client.POST('/v1/organization/groups/{group_id}', {
      params: { path: { group_id: id } },
      body: { name, directory_name: directoryName },
    }),
  )

export const deleteGroup = (id: string) =>
  call(() => client.DELETE('/v1/organization/groups/{group_id}', { params: { path: { group_id: id } } }))

export const groupUsersQuery = (id: string) =>
  organizationPages(['groups', id, 'users'], (query, signal) =>
    call(() =>
      client.GET('/v1/organization/groups/{group_id}/users', {
        params: { path: { group_id: id }, query },
        signal,
      }),
    ),
  )

export const addToGroup = (id: string, userId: string) =>
  call(() =>
    client.POST('/v1/organization/groups/{group_id}/users', {
      params: { path: { group_id: id } },
      body: { user_id: userId },
    }),
  )

export const removeFromGroup = (id: string, userId: string) =>
  call(() =>
    client.DELETE('/v1/organization/groups/{group_id}/users/{user_id}', {
      params: { path: { group_id: id, user_id: userId } },
    }),
  )
