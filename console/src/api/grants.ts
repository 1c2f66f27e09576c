import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'

export type Grant = Schemas['Grant']
export type DeviceAuthorization = Schemas['DeviceAuthorization']

/** Finds the tool that waits for a code. Decides nothing. */
export const findDevice = (userCode: string): Promise<DeviceAuthorization> =>
  call(() => client.POST('/v1/device-authorizations/find', { body: { user_code: userCode } }))

export const approveDevice = (userCode: string, projectId: string | null): Promise<DeviceAuthorization> =>
  call(() =>
    client.POST('/v1/device-authorizations/approve', {
      body: { user_code: userCode, project_id: projectId },
    }),
  )

export const denyDevice = (userCode: string): Promise<DeviceAuthorization> =>
  call(() => client.POST('/v1/device-authorizations/deny', { body: { user_code: userCode } }))

/** The tools that the person of this session signed in. */
export const ownGrantsQuery = queryOptions({
  queryKey: ['grants', 'own'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/grants', { params: { query: { own: true } }, signal })),
})

export const endGrant = (id: string): Promise<Grant> =>
  call(() => client.DELETE('/v1/grants/{id}', { params: { path: { id } } }))
