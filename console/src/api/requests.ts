import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

type RequestsPage = Awaited<ReturnType<typeof fetchRequests>>
export type LoggedRequest = RequestsPage['data'][number]
export type RequestDetails = Awaited<ReturnType<typeof fetchRequest>>
export type StoredBody = Awaited<ReturnType<typeof fetchBodies>>['request']
export type RequestOutcome = 'completed' | 'failed' | 'refused' | 'disconnected'

export const REQUEST_OUTCOMES: readonly RequestOutcome[] = ['completed', 'failed', 'refused', 'disconnected']

/** How far back the log is read. */
export const LOG_PERIODS = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const
export type LogPeriod = keyof typeof LOG_PERIODS

/** The filters of the log. What is absent does not filter. */
export interface RequestFilters {
  readonly period?: LogPeriod | undefined
  readonly outcome?: RequestOutcome | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly key?: string | undefined
  readonly env?: 'live' | 'prod' | 'staging' | 'test' | 'dev' | undefined
  readonly operation?: string | undefined
  readonly http_status?: number | undefined
  readonly error_code?: string | undefined
  /** A part of the code or the message of the error. */
  readonly error?: string | undefined
  /** Called for the request, also if another one answered. */
  readonly attempted_provider?: string | undefined
  readonly min_latency_ms?: number | undefined
  readonly min_cost_usd?: number | undefined
  readonly request_id?: string | undefined
  /** Such as `team=search`. */
  readonly tag?: string | undefined
  readonly project_id?: string | undefined
}

/** The requests of the account, newest first. */
export const requestsQuery = (filters: RequestFilters) =>
  cursorPages({
    queryKey: ['requests', filters],
    fetchPage: (after, signal) => fetchRequests(filters, after, signal),
  })

/** One request with its timings and attempts. */
export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ['requests', 'one', id],
    queryFn: ({ signal }) => fetchRequest(id, signal),
    // Bodies are stored a moment after the request.
    staleTime: 5_000,
  })

/** The stored bodies of one request. */
export const requestBodyQuery = (id: string) =>
  queryOptions({
    queryKey: ['requests', 'body', id],
    queryFn: ({ signal }) => fetchBodies(id, signal),
    staleTime: Infinity,
  })

const HOUR_MS = 3_600_000

function fetchRequests(
  { period, ...filters }: RequestFilters,
  after: string | undefined,
  signal: AbortSignal,
) {
  const since = startOf(period)
  return call(() =>
    client.GET('/v1/requests', { params: { query: { ...filters, since, after, limit: 100 } }, signal }),
  )
}

function startOf(period: LogPeriod | undefined): string | undefined {
  return period === undefined ? undefined : new Date(Date.now() - LOG_PERIODS[period] * HOUR_MS).toISOString()
}

/** Makes a dataset of requests whose bodies are stored. */
export function createLoggedDataset(name: string, { period, ...filters }: RequestFilters, limit: number) {
  // JSON leaves out what is undefined.
  const fromLog = { ...filters, since: startOf(period), limit }
  return call(() => client.POST('/v1/compare/datasets', { body: { name, from_log: fromLog } }))
}

function fetchRequest(id: string, signal: AbortSignal) {
  return call(() => client.GET('/v1/requests/{request_id}', { params: { path: { request_id: id } }, signal }))
}

function fetchBodies(id: string, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/requests/{request_id}/body', { params: { path: { request_id: id } }, signal }),
  )
}
