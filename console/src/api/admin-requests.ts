import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import { cursorPages } from './cursor-pages.ts'
import { fileUrl, jsonOf } from './list-files.ts'
import { timesOf, type RequestFilters } from './requests.ts'

export type AdminRequest = Awaited<ReturnType<typeof fetchRequests>>['data'][number]
export type AdminRequestDetails = Awaited<ReturnType<typeof fetchRequest>>
export type Replay = Awaited<ReturnType<typeof replayRequest>>
export type ErrorGroup = Awaited<ReturnType<typeof fetchErrors>>['data'][number]

/** The filters of the requests of all accounts. What is absent does not filter. */
export interface AdminRequestFilters extends RequestFilters {
  readonly account_id?: string | undefined
  readonly attempted_provider?: string | undefined
  /** A part of an error's code or message. */
  readonly error?: string | undefined
  readonly error_key?: string | undefined
}

/** The requests of all accounts, newest first. */
export const adminRequestsQuery = (filters: AdminRequestFilters) =>
  cursorPages({
    queryKey: ['admin-requests', filters],
    fetchPage: (after, signal) => fetchRequests(filters, after, signal),
  })

/** Where all requests that match are downloaded as a file. */
export function adminRequestsFileUrl(filters: AdminRequestFilters): string {
  return fileUrl('/v1/admin/requests', queryOf(filters))
}

export const adminRequestQuery = (id: string) =>
  queryOptions({
    queryKey: ['admin-requests', 'one', id],
    queryFn: ({ signal }) => fetchRequest(id, signal),
    // Bodies are stored a moment after the request.
    staleTime: 5_000,
  })

export const adminRequestBodyQuery = (id: string, accountId: string) =>
  queryOptions({
    queryKey: ['admin-requests', 'body', id],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/admin/requests/{request_id}/body', {
          params: { path: { request_id: id }, query: { account_id: accountId } },
          signal,
        }),
      ),
    staleTime: Infinity,
  })

/** Asks a provider what the request asked. Without a model, that of the request. */
export const replayRequest = (
  id: string,
  { accountId, provider, model }: { accountId: string; provider: string; model: string },
) =>
  call(() =>
    client.POST('/v1/admin/requests/{request_id}/replay', {
      params: { path: { request_id: id } },
      body: { account_id: accountId, provider, ...(model !== '' && { model }) },
    }),
  )

/** Equal errors, the most frequent first. */
export const requestErrorsQuery = (filters: AdminRequestFilters) =>
  queryOptions({
    queryKey: ['request-errors', filters],
    queryFn: ({ signal }) => fetchErrors(filters, signal),
  })

function queryOf({ period, since, until, ...filters }: AdminRequestFilters) {
  return { ...filters, ...timesOf({ period, since, until }) }
}

async function fetchRequests(filters: AdminRequestFilters, after: string | undefined, signal: AbortSignal) {
  const query = { ...queryOf(filters), after, limit: 100 }
  return jsonOf(await call(() => client.GET('/v1/admin/requests', { params: { query }, signal })))
}

function fetchRequest(id: string, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/admin/requests/{request_id}', { params: { path: { request_id: id } }, signal }),
  )
}

function fetchErrors(filters: AdminRequestFilters, signal: AbortSignal) {
  const { period = '24h', since, until, account_id, key, model, provider, error, outcome } = filters
  const times = timesOf({ period, since, until })
  const failed = outcome === 'completed' ? undefined : outcome
  return call(() =>
    client.GET('/v1/admin/request_errors', {
      params: {
        query: {
          from: times.since,
          to: times.until,
          account_id,
          key,
          model,
          provider,
          error,
          outcome: failed,
          limit: 100,
        },
      },
      signal,
    }),
  )
}
