import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type Project = RowOf<typeof projectsQuery>
export type ProjectUser = RowOf<typeof projectUsersQuery>
export type ProjectGroup = RowOf<typeof projectGroupsQuery>
export type ServiceAccount = RowOf<typeof serviceAccountsQuery>
export type ProjectKey = RowOf<typeof projectKeysQuery>

export const PROJECT_ROLES = ['owner', 'member', 'viewer'] as const
export type ProjectRole = (typeof PROJECT_ROLES)[number]

const at = (id: string) => ({ path: { project_id: id } })

export const projectsQuery = (isArchivedShown = false) =>
  organizationPages(['projects', 'list', isArchivedShown], (page, signal) =>
    call(() =>
      client.GET('/v1/organization/projects', {
        params: { query: { ...page, include_archived: isArchivedShown } },
        signal,
      }),
    ),
  )

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['projects', id],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/organization/projects/{project_id}', { params: at(id), signal })),
  })

export const createProject = (name: string) =>
  call(() => client.POST('/v1/organization/projects', { body: { name } }))

export const renameProject = (id: string, name: string) =>
  call(() => client.POST('/v1/organization/projects/{project_id}', { params: at(id), body: { name } }))

export const archiveProject = (id: string) =>
  call(() => client.POST('/v1/organization/projects/{project_id}/archive', { params: at(id) }))

export const projectUsersQuery = (id: string) =>
  organizationPages(['projects', id, 'users'], (query, signal) =>
    call(() =>
      client.GET('/v1/organization/projects/{project_id}/users', {
        params: { ...at(id), query },
        signal,
      }),
    ),
  )

export const addProjectUser = (id: string, email: string, role: ProjectRole) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/users', { params: at(id), body: { email, role } }),
  )

export const changeProjectUser = (id: string, userId: string, role: ProjectRole) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/users/{user_id}', {
      params: { path: { project_id: id, user_id: userId } },
      body: { role },
    }),
  )

export const removeProjectUser = (id: string, userId: string) =>
  call(() =>
    client.DELETE('/v1/organization/projects/{project_id}/users/{user_id}', {
      params: { path: { project_id: id, user_id: userId } },
    }),
  )

export const projectGroupsQuery = (id: string) =>
  organizationPages(['projects', id, 'groups'], (query, signal) =>
    call(() =>
      client.GET('/v1/organization/projects/{project_id}/groups', {
        params: { ...at(id), query },
        signal,
      }),
    ),
  )

export const addProjectGroup = (id: string, groupId: string, role: ProjectRole) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/groups', {
      params: at(id),
      body: { group_id: groupId, role },
    }),
  )

export const removeProjectGroup = (id: string, groupId: string) =>
  call(() =>
    client.DELETE('/v1/organization/projects/{project_id}/groups/{group_id}', {
      params: { path: { project_id: id, group_id: groupId } },
    }),
  )

export const serviceAccountsQuery = (id: string) =>
  organizationPages(['projects', id, 'service-accounts'], (query, signal) =>
    call(() =>
      client.GET('/v1/organization/projects/{project_id}/service_accounts', {
        params: { ...at(id), query },
        signal,
      }),
    ),
  )

export const createServiceAccount = (id: string, name: string) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/service_accounts', {
      params: at(id),
      body: { name },
    }),
  )

/** Makes one without a key: machines get tokens by what their project trusts. */
export const createKeylessServiceAccount = (id: string, name: string) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/service_accounts', {
      params: at(id),
      body: { name, create_service_account_only: true },
    }),
  )

export const createServiceAccountKey = (id: string, serviceAccountId: string, name: string) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/service_accounts/{service_account_id}/api_keys', {
      params: { path: { project_id: id, service_account_id: serviceAccountId } },
      body: { name },
    }),
  )

export const deleteServiceAccount = (id: string, serviceAccountId: string) =>
  call(() =>
    client.DELETE('/v1/organization/projects/{project_id}/service_accounts/{service_account_id}', {
      params: { path: { project_id: id, service_account_id: serviceAccountId } },
    }),
  )

export const projectKeysQuery = (id: string) =>
  organizationPages(['projects', id, 'keys'], (query, signal) =>
    call(() =>
      client.GET('/v1/organization/projects/{project_id}/api_keys', {
        params: { ...at(id), query: { ...query, owner_project_access: 'any' } },
        signal,
      }),
    ),
  )

export const deleteProjectKey = (id: string, keyId: string) =>
  call(() =>
    client.DELETE('/v1/organization/projects/{project_id}/api_keys/{api_key_id}', {
      params: { path: { project_id: id, api_key_id: keyId } },
    }),
  )
