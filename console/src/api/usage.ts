import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import { daysOf, endOfDay, startOfDay, type DayRange } from './days.ts'

/** The sums of today in UTC, with an entry for each hour. */
export const usageTodayQuery = queryOptions({
  queryKey: ['usage', 'today'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/usage/today', { signal })),
  refetchInterval: 60_000,
})

/** How far back usage is read. The API names those up to a month. */
export const USAGE_PERIODS = ['24h', '7d', '30d', '12mo'] as const
export type UsagePeriod = (typeof USAGE_PERIODS)[number]

export const USAGE_PERIOD_LABELS: Readonly<Record<UsagePeriod, string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '12mo': 'Last 12 months',
}

/** Parts of the calendar of a time zone. Weeks begin on Monday. */
export const CALENDAR_PERIOD_LABELS = {
  today: 'Today',
  yesterday: 'Yesterday',
  this_week: 'This week',
  this_month: 'This month',
  last_month: 'Last month',
} as const
export type CalendarPeriod = keyof typeof CALENDAR_PERIOD_LABELS
export const CALENDAR_PERIODS: readonly CalendarPeriod[] = [
  'today',
  'yesterday',
  'this_week',
  'this_month',
  'last_month',
]

export function isOfCalendar(period: UsageSelection['period']): period is CalendarPeriod {
  return period in CALENDAR_PERIOD_LABELS
}

export const USAGE_DIMENSIONS = ['model', 'key', 'provider', 'env'] as const
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]

/** What is asked of usage. */
export interface UsageSelection extends DayRange {
  /** `own`: the days from `since` to `until`. */
  readonly period: UsagePeriod | CalendarPeriod | 'own'
  /** The time zone of own days and of a part of the calendar; UTC unless told. */
  readonly zone?: string | undefined
  /** Also the values of one tag: `tag:team`. */
  readonly by: UsageDimension | `tag:${string}`
  readonly model?: string | undefined
  readonly key?: string | undefined
  readonly provider?: string | undefined
  /** Such as `team=search`. */
  readonly tag?: string | undefined
  readonly project_id?: string | undefined
  readonly env?: 'live' | 'prod' | 'staging' | 'test' | 'dev' | undefined
}

export type UsageSeries = Awaited<ReturnType<typeof fetchSeries>>
export type UsageBucket = UsageSeries['data'][number]
export type Spending = Awaited<ReturnType<typeof fetchSpending>>

/** Totals, averages and the same time before. */
export const usageSummaryQuery = (selection: UsageSelection) =>
  queryOptions({
    queryKey: ['usage', 'summary', rangeOf(selection)],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/usage/summary', { params: { query: rangeOf(selection) }, signal })),
  })

/** Every hour or day of the period, in groups. */
export const usageSeriesQuery = (selection: UsageSelection) =>
  queryOptions({
    queryKey: ['usage', 'series', selection],
    queryFn: ({ signal }) => fetchSeries(selection, signal),
  })

/** What each group cost, with the names of keys. */
export const usageSpendingQuery = (selection: UsageSelection) =>
  queryOptions({
    queryKey: ['usage', 'spending', selection],
    queryFn: ({ signal }) => fetchSpending(selection, signal),
  })

/** Percentiles of latency and of the time to the first token. */
export const usageLatencyQuery = (selection: UsageSelection) =>
  queryOptions({
    queryKey: ['usage', 'latency', selection],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/usage/latency', {
          params: { query: latencyOf(selection) },
          signal,
        }),
      ),
  })

function fetchSeries(selection: UsageSelection, signal: AbortSignal) {
  const query = { ...rangeOf(selection), by: selection.by, granularity: granularityOf(selection) }
  return call(() => client.GET('/v1/usage/timeseries', { params: { query }, signal }))
}

function fetchSpending(selection: UsageSelection, signal: AbortSignal) {
  const query = { ...rangeOf(selection), by: selection.by, limit: 100 }
  return call(() => client.GET('/v1/usage/spending', { params: { query }, signal }))
}

function granularityOf({ period, ...range }: UsageSelection): 'hour' | 'day' {
  const isShort = period === 'own' && daysOf(range) <= HOURLY_DAYS_MAX
  return isShort || period === '24h' || period === 'today' || period === 'yesterday' ? 'hour' : 'day'
}

const HOURLY_DAYS_MAX = 3

const DAY_MS = 86_400_000

/** Latency is not measured by tag. */
function latencyOf(selection: UsageSelection) {
  const { tag: _, ...range } = rangeOf(selection)
  const by = USAGE_DIMENSIONS.find((dimension) => dimension === selection.by) ?? 'model'
  return { ...range, by, granularity: granularityOf(selection) }
}

function rangeOf({ period, zone, since, until, model, key, provider, env, tag, project_id }: UsageSelection) {
  const filters = { model, key, provider, env, tag, project_id }
  // Until a first day is chosen, it is the last week.
  if (period === 'own')
    return since === undefined
      ? { ...filters, ...rangeOfPeriod('7d') }
      : { ...filters, from: startOfDay(since, zone), to: until && endOfDay(until, zone) }
  return isOfCalendar(period)
    ? { ...filters, window: period, time_zone: zone }
    : { ...filters, ...rangeOfPeriod(period) }
}

/** The API names the periods up to a month. */
export function rangeOfPeriod(period: UsagePeriod) {
  if (period !== '12mo') return { window: period }
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  return { from: new Date(today - 364 * DAY_MS).toISOString() }
}

/** What the gateway takes as the name of a tag. */
export function isTagName(name: string | undefined): name is string {
  return name !== undefined && /^[a-z0-9_.-]{1,64}$/.test(name)
}
