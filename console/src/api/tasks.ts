import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'

export type Task = Schemas['Task']

const LATEST_COUNT = 6
const UNFINISHED = new Set(['pending', 'processing'])

/** The newest tasks. Read again every few seconds while one of them runs. */
export const latestTasksQuery = queryOptions({
  queryKey: ['tasks', 'latest'],
  queryFn: ({ signal }) =>
    call(() => client.GET('/v1/tasks', { params: { query: { limit: LATEST_COUNT } }, signal })),
  refetchInterval: ({ state }) =>
    state.data?.data.some(({ status }) => UNFINISHED.has(status)) === true ? 2_000 : 60_000,
})

/** One task, read again until it has ended. */
export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', id],
    queryFn: ({ signal }) => call(() => client.GET('/v1/tasks/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data && !UNFINISHED.has(state.data.status) ? false : 1_000),
  })

export const cancelTask = (id: string) =>
  call(() => client.POST('/v1/tasks/{id}/cancel', { params: { path: { id } } }))
