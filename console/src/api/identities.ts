import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'

export type Identity = Schemas['Identity']

/** With which accounts of identity providers the person signs in. */
export const identitiesQuery = queryOptions({
  queryKey: ['identities'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/identities', { signal })),
})

/** Links the sign-in that the browser has come back from. */
export const linkIdentity = (ticket: string): Promise<Identity> =>
  call(() => client.POST('/v1/identities', { body: { ticket } }))

export const removeIdentity = (id: string, evenIfLast: boolean) =>
  call(() =>
    client.DELETE('/v1/identities/{id}', {
      params: { path: { id }, query: { even_if_last: evenIfLast } },
    }),
  )
