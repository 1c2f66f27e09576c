import { queryOptions } from '@tanstack/react-query'
import type { paths } from '../../../api-types/generated/gateway-api.ts'
import { call, client, type BodyOf, type Schemas } from './client.ts'

export type IdentityProvider = Schemas['IdentityProvider']

export type ProviderDraft = BodyOf<paths['/v1/admin/identity-providers']['post']>
export type ProviderChange = BodyOf<paths['/v1/admin/identity-providers/{id}']['patch']>

export const identityProvidersQuery = queryOptions({
  queryKey: ['identity-providers'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/admin/identity-providers', { signal })),
})

export const addProvider = (body: ProviderDraft) =>
  call(() => client.POST('/v1/admin/identity-providers', { body }))

export const changeProvider = (id: string, body: ProviderChange) =>
  call(() => client.PATCH('/v1/admin/identity-providers/{id}', { params: { path: { id } }, body }))

export const deleteProvider = (id: string) =>
  call(() => client.DELETE('/v1/admin/identity-providers/{id}', { params: { path: { id } } }))

/** Fetches what the provider says of itself now. */
export const testIdentityProvider = (id: string) =>
  call(() => client.POST('/v1/admin/identity-providers/{id}/test', { params: { path: { id } } }))
