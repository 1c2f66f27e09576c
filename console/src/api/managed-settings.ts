import { queryOptions } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { call, client, type Schemas } from './client.ts'

export type ManagedSettings = Schemas['ManagedSettings']
export type SettingsPreview = Schemas['UserManagedSettings']

export const managedSettingsQuery = queryOptions({
  queryKey: ['managed-settings'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/organization/managed_settings', { signal })),
})

/** Sets them for everybody (null) or one group, in the place of what was there. */
export const setManagedSettings = (body: {
  group_id: string | null
  priority: number | null
  settings: Record<string, unknown>
}) => call(() => client.POST('/v1/organization/managed_settings', { body }))

export const deleteManagedSettings = (id: string) =>
  call(() =>
    client.DELETE('/v1/organization/managed_settings/{managed_settings_id}', {
      params: { path: { managed_settings_id: id } },
    }),
  )

/** What the agents of the member with this address get. */
export async function previewSettings(email: string): Promise<SettingsPreview> {
  const { data } = await call(() =>
    client.GET('/v1/organization/users', { params: { query: { emails: [email], limit: 1 } } }),
  )
  const member = data[0]
  if (member === undefined)
    throw new ApiError(`Nobody in this account has the address ${email}.`, { code: 'not_found' })
  return call(() =>
    client.GET('/v1/organization/users/{user_id}/managed_settings', {
      params: { path: { user_id: member.id } },
    }),
  )
}
