import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'

/** All models that the key may use, with those that the plain list leaves out. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) =>
    (await call(() => client.GET('/v1/models', { params: { query: { include: 'all' } }, signal }))).data,
  staleTime: 60_000,
})

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ['models', id],
    queryFn: ({ signal }) => call(() => client.GET('/v1/models/{id}', { params: { path: { id } }, signal })),
    staleTime: 60_000,
  })
