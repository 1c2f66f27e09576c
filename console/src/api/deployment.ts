import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { toApiError } from './api-error.ts'
import { call, client, noteFailure, type Schemas } from './client.ts'
import { fetchInProject } from './project.ts'
import { cursorPages } from './cursor-pages.ts'
import { readEvents } from './read-events.ts'

export type Deployment = Schemas['Deployment']
export type DeploymentStatus = Deployment['status']
export type MetricsWindow = NonNullable<Schemas['DeploymentMetrics']['window']>

const MOVING: ReadonlySet<string> = new Set(['queued', 'creating', 'starting', 'stopping'])
const MOVING_MS = 1_000
const RESTING_MS = 10_000

/** Whether the deployment is on its way to another state. */
export const isMoving = ({ status }: Pick<Deployment, 'status'>): boolean => MOVING.has(status)

export const deploymentListQuery = (status: DeploymentStatus | undefined) => ({
  ...cursorPages({
    queryKey: ['deployments', 'list', status],
    fetchPage: (after, signal) =>
      call(() => client.GET('/v1/deployments', { params: { query: { status, after, limit: 50 } }, signal })),
  }),
  refetchInterval: RESTING_MS,
})

export const deploymentQuery = (id: string) =>
  queryOptions({
    queryKey: ['deployments', 'one', id],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/deployments/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? MOVING_MS : RESTING_MS),
  })

/** What happened to a deployment. `status` makes it read again at each change. */
export const deploymentEventsQuery = (id: string, status: string) =>
  queryOptions({
    queryKey: ['deployments', 'events', id, status],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { limit: 100 } }
      return (await call(() => client.GET('/v1/deployments/{id}/events', { params, signal }))).data
    },
    placeholderData: keepPreviousData,
  })

export const deploymentBillQuery = (id: string) =>
  queryOptions({
    queryKey: ['deployments', 'bill', id],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/deployments/{id}/billing', { params: { path: { id } }, signal })),
    refetchInterval: 5_000,
  })

export const deploymentMetricsQuery = (id: string, window: MetricsWindow) =>
  queryOptions({
    queryKey: ['deployments', 'metrics', id, window],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/deployments/{id}/metrics', { params: { path: { id }, query: { window } }, signal }),
      ),
    refetchInterval: RESTING_MS,
    placeholderData: keepPreviousData,
  })

export const startDeployment = (id: string) =>
  call(() => client.POST('/v1/deployments/{id}/start', { params: { path: { id } } }))

export const stopDeployment = (id: string) =>
  call(() => client.POST('/v1/deployments/{id}/stop', { params: { path: { id } } }))

export const deleteDeployment = (id: string) =>
  call(() => client.DELETE('/v1/deployments/{id}', { params: { path: { id } } }))

/** The lines of the engine as it writes them, until the deployment ends. */
export async function* followLogs(id: string, signal: AbortSignal): AsyncGenerator<string> {
  const path = `/v1/deployments/${encodeURIComponent(id)}/logs?follow=true&lines=500`
  const response = await fetchInProject(new Request(path, { credentials: 'same-origin', signal }))
  if (!response.ok || response.body === null) {
    const failure = toApiError(await response.json().catch(() => null), response)
    noteFailure(failure, response)
    throw failure
  }
  for await (const data of readEvents(response.body)) {
    const event: unknown = JSON.parse(data)
    const error: unknown =
      typeof event === 'object' && event !== null ? Reflect.get(event, 'error') : undefined
    if (error !== undefined) throw toApiError(event, response)
    const line: unknown = typeof event === 'object' && event !== null ? Reflect.get(event, 'line') : undefined
    if (typeof line === 'string') yield line
  }
}
