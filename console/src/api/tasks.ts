import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type Task = Schemas['Task']

export interface TaskFilter {
  readonly status?: Task['status'] | undefined
  readonly task_type?: Task['task_type'] | undefined
  readonly model?: string | undefined
}

const PAGE_LENGTH = 60
const LATEST_COUNT = 6
const POLL_MS = 1_000

export const taskListQuery = (filter: TaskFilter) =>
  cursorPages({
    queryKey: ['tasks', 'list', filter],
    fetchPage: (after, signal) =>
      call(() =>
        client.GET('/v1/tasks', { params: { query: { ...filter, after, limit: PAGE_LENGTH } }, signal }),
      ),
  })

export const isRunning = ({ status }: Pick<Task, 'status'>): boolean =>
  status === 'pending' || status === 'processing'

/** The newest tasks. Read again every few seconds while one of them runs. */
export const latestTasksQuery = queryOptions({
  queryKey: ['tasks', 'latest'],
  queryFn: ({ signal }) =>
    call(() => client.GET('/v1/tasks', { params: { query: { limit: LATEST_COUNT } }, signal })),
  refetchInterval: ({ state }) => (state.data?.data.some(isRunning) === true ? 2_000 : 60_000),
})

/** One task, read again until it has ended. */
export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => call(() => client.GET('/v1/tasks/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data === undefined || isRunning(state.data) ? POLL_MS : false),
  })

/** The attempts to tell the webhook of a task that it has ended. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'deliveries', id],
    queryFn: async ({ signal }) => {
      const path = '/v1/tasks/{id}/webhook-deliveries'
      const { data } = await call(() => client.GET(path, { params: { path: { id } }, signal }))
      return data
    },
  })

export const cancelTask = (id: string) =>
  call(() => client.POST('/v1/tasks/{id}/cancel', { params: { path: { id } } }))

/** Calls a webhook again. */
export const redeliver = (id: string) =>
  call(() => client.POST('/v1/webhook-deliveries/{id}/redeliver', { params: { path: { id } } }))

/** Makes another task with the same parameters. */
export const retryTask = (id: string) =>
  call(() => client.POST('/v1/tasks/{id}/retry', { params: { path: { id } } }))
