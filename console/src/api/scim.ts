import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type ScimToken = RowOf<typeof scimTokensQuery>
export type ScimState = Schemas['ScimState']

/** How the synchronisation with a directory goes. */
export const scimStateQuery = queryOptions({
  queryKey: ['scim', 'state'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/organization/scim', { signal })),
  // Whoever sets up a directory wants to see its first request come in.
  refetchInterval: 15_000,
})

export const scimTokensQuery = () =>
  organizationPages(['scim', 'tokens'], (query, signal) =>
    call(() => client.GET('/v1/organization/scim_tokens', { params: { query }, signal })),
  )

export const createScimToken = (name: string, expiresInSeconds: number | null) =>
  call(() =>
    client.POST('/v1/organization/scim_tokens', { body: { name, expires_in_seconds: expiresInSeconds } }),
  )

export const deleteScimToken = (id: string) =>
  call(() => client.DELETE('/v1/organization/scim_tokens/{token_id}', { params: { path: { token_id: id } } }))

/** Whether a directory can still use a token. */
export function worksNow({ expires_at: expiresAt }: ScimToken): boolean {
  return expiresAt === null || expiresAt * 1000 > Date.now()
}
