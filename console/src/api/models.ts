import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'

/** The plain list leaves these kinds out, each of which has one or two models. */
const SERVICES = ['rerank', 'moderation', 'upscale', 'bg_remove'] as const

/** All models that the key may use, with those that the plain list leaves out. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => {
    const lists = await Promise.all(
      [{ include: 'unlisted' as const }, ...SERVICES.map((category) => ({ category }))].map((query) =>
        call(() => client.GET('/v1/models', { params: { query }, signal })),
      ),
    )
    return lists.flatMap(({ data }) => data)
  },
  staleTime: 60_000,
})

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ['models', id],
    queryFn: ({ signal }) => call(() => client.GET('/v1/models/{id}', { params: { path: { id } }, signal })),
    staleTime: 60_000,
  })
