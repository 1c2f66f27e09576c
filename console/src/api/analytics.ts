import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import type { KEY_ENVIRONMENTS } from './keys.ts'
import { rangeOfPeriod, type UsagePeriod } from './usage.ts'

export const ANALYTICS_DIMENSIONS = [
  'account',
  'project',
  'key',
  'model',
  'provider',
  'region',
  'env',
] as const
export type AnalyticsDimension = (typeof ANALYTICS_DIMENSIONS)[number]

export const ANALYTICS_ORDERS = ['cost', 'requests', 'tokens', 'errors', 'movers'] as const
export type AnalyticsOrder = (typeof ANALYTICS_ORDERS)[number]

/** What is asked of the usage of all accounts. */
export interface AnalyticsSelection {
  readonly period: UsagePeriod
  /** Also the values of one tag: `tag:team`. */
  readonly by: AnalyticsDimension | `tag:${string}`
  readonly order: AnalyticsOrder
  readonly account_id?: string | undefined
  readonly project_id?: string | undefined
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly env?: (typeof KEY_ENVIRONMENTS)[number] | undefined
  /** Such as `team=search`. */
  readonly tag?: string | undefined
}

export type Analytics = Awaited<ReturnType<typeof fetchGroups>>
export type AnalyticsGroup = Analytics['data'][number]
export type AnalyticsSeries = Awaited<ReturnType<typeof fetchSeries>>

const GROUPS_MAX = 100

/** Groups with the time before, errors and latencies. */
export const analyticsQuery = (selection: AnalyticsSelection) =>
  queryOptions({
    queryKey: ['analytics', 'groups', selection],
    queryFn: ({ signal }) => fetchGroups(selection, signal),
  })

/** Every hour or day of the period, in groups. */
export function analyticsSeriesQuery(given: AnalyticsSelection) {
  const { order: _, ...selection } = given
  return queryOptions({
    queryKey: ['analytics', 'series', selection],
    queryFn: ({ signal }) => fetchSeries(selection, signal),
  })
}

/** Where all groups are downloaded as a file. */
export function analyticsFileUrl({ period, ...selection }: AnalyticsSelection): string {
  const given = Object.entries({ ...selection, ...rangeOfPeriod(period), format: 'csv' })
  return `/v1/admin/usage?${new URLSearchParams(given.flatMap(([name, value]) => (value ? [[name, value]] : [])))}`
}

async function fetchGroups({ period, ...selection }: AnalyticsSelection, signal: AbortSignal) {
  const query = { ...selection, ...rangeOfPeriod(period), limit: GROUPS_MAX }
  const answer = await call(() => client.GET('/v1/admin/usage', { params: { query }, signal }))
  if (typeof answer === 'string') throw new TypeError('the usage is no JSON')
  return answer
}

function fetchSeries({ period, ...selection }: Omit<AnalyticsSelection, 'order'>, signal: AbortSignal) {
  const granularity = period === '24h' ? ('hour' as const) : ('day' as const)
  const query = { ...selection, ...rangeOfPeriod(period), granularity }
  return call(() => client.GET('/v1/admin/usage/timeseries', { params: { query }, signal }))
}
