import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import { cursorPages } from './cursor-pages.ts'
import { endOfDay, isDay, startOfDay, type DayRange } from './days.ts'
import { fileUrl, jsonOf } from './list-files.ts'

type RequestsPage = Awaited<ReturnType<typeof fetchRequests>>
export type LoggedRequest = RequestsPage['data'][number]
export type RequestDetails = Awaited<ReturnType<typeof fetchRequest>>
export type StoredBody = Awaited<ReturnType<typeof fetchBodies>>['request']
export type RequestOutcome = 'completed' | 'failed' | 'refused' | 'disconnected'

export const REQUEST_OUTCOMES: readonly RequestOutcome[] = ['completed', 'failed', 'refused', 'disconnected']

/** How far back the log is read. */
const LOG_PERIODS = { '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const
type LogPeriod = keyof typeof LOG_PERIODS

/** The filters of the log. What is absent does not filter. */
export interface RequestFilters extends DayRange {
  /** `own`: the days of UTC from `since` to `until`. */
  readonly period?: LogPeriod | 'own' | undefined
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

/** Where all requests that match are downloaded as a file. */
export function requestsFileUrl(filters: RequestFilters): string {
  return fileUrl('/v1/requests', queryOf(filters))
}

const HOUR_MS = 3_600_000

function queryOf({ period, since, until, ...filters }: RequestFilters) {
  return { ...filters, ...timesOf({ period, since, until }) }
}

/** The times of a period, or of own days. */
export function timesOf({ period, since, until }: Pick<RequestFilters, 'period' | 'since' | 'until'>): {
  since?: string | undefined
  until?: string | undefined
} {
  if (period === undefined) return {}
  if (period === 'own') return { since: since && startOfDay(since), until: until && endOfDay(until) }
  return { since: new Date(Date.now() - LOG_PERIODS[period] * HOUR_MS).toISOString() }
}

/** Takes the period and its days from an address. */
export function readPeriod(
  search: Record<string, unknown>,
): Pick<RequestFilters, 'period' | 'since' | 'until'> {
  if (search['period'] === 'own') {
    const { since, until } = search
    return { period: 'own', ...(isDay(since) && { since }), ...(isDay(until) && { until }) }
  }
  const period = PERIODS.find((known) => known === search['period'])
  return period === undefined ? {} : { period }
}

const PERIODS: readonly LogPeriod[] = ['1h', '24h', '7d', '30d']

/** The choices of the period, for a select. */
export const PERIOD_CHOICES = [
  { value: '', label: 'Any time' },
  ...PERIODS.map((period) => ({ value: period, label: `Last ${period}` })),
  { value: 'own', label: 'From a day to a day' },
]

async function fetchRequests(filters: RequestFilters, after: string | undefined, signal: AbortSignal) {
  const query = { ...queryOf(filters), after, limit: 100 }
  return jsonOf(await call(() => client.GET('/v1/requests', { params: { query }, signal })))
}

/** Makes a dataset of requests whose bodies are stored. */
export function createLoggedDataset(name: string, filters: RequestFilters, limit: number) {
  // JSON leaves out what is undefined.
  const fromLog = { ...queryOf(filters), limit }
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
