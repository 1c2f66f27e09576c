import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'
import type { UseDays } from './use-days.ts'

export type Deprecation = Schemas['Deprecation']
export type DeprecationKey = Schemas['DeprecationKey']
export type UsedDeprecation = Schemas['UsedDeprecation']

interface DeprecationSelection {
  readonly days: UseDays
  /** Also models that nobody used. */
  readonly all: boolean
}

/** Models that end, with their use by all accounts. */
export const deprecationsQuery = ({ days, all }: DeprecationSelection) =>
  cursorPages({
    queryKey: ['deprecations', 'gateway', days, all],
    fetchPage: (after, signal) =>
      call(() =>
        client.GET('/v1/admin/deprecations', {
          params: { query: { days, ...(all ? {} : { used: true }), after, limit: 100 } },
          signal,
        }),
      ),
  })

/** The keys of all accounts that used a model. */
export const deprecationKeysQuery = (id: string, days: UseDays) =>
  cursorPages({
    queryKey: ['deprecations', 'gateway', id, days],
    fetchPage: (after, signal) =>
      call(() =>
        client.GET('/v1/admin/deprecations/{id}/keys', {
          params: { path: { id }, query: { days, after, limit: 100 } },
          signal,
        }),
      ),
  })

/** Models that end and that anybody used, for a notice. */
export const usedDeprecationsQuery = queryOptions({
  queryKey: ['deprecations', 'gateway', 'used'],
  queryFn: ({ signal }) =>
    call(() =>
      client.GET('/v1/admin/deprecations', { params: { query: { used: true, limit: 100 } }, signal }),
    ),
  staleTime: 5 * 60_000,
})

/** Models that end and that keys of the account used. */
export const ownDeprecationsQuery = queryOptions({
  queryKey: ['deprecations', 'own'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/deprecations', { signal })),
  staleTime: 5 * 60_000,
})
