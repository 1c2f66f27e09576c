import type { AdminRequestFilters } from '../../api/admin-requests.ts'
import {
  ANALYTICS_DIMENSIONS,
  ANALYTICS_ORDERS,
  type AnalyticsDimension,
  type AnalyticsSelection,
} from '../../api/analytics.ts'
import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import { isTagName, USAGE_PERIODS } from '../../api/usage.ts'

export const ANALYTICS_VIEWS = ['spend', 'requests', 'tokens'] as const
export type AnalyticsView = (typeof ANALYTICS_VIEWS)[number]

export const ANALYTICS_GROUPS = [...ANALYTICS_DIMENSIONS, 'tag'] as const

/** What differs from the usual selection is in the address. */
export interface AnalyticsSearch extends Partial<Omit<AnalyticsSelection, 'by'>> {
  readonly by?: AnalyticsDimension | 'tag' | undefined
  /** The name of the tag whose values are the groups. */
  readonly group_tag?: string | undefined
  readonly view?: AnalyticsView | undefined
}

const TEXTS = ['account_id', 'project_id', 'key', 'model', 'provider', 'tag', 'group_tag'] as const
const CHOICES = {
  period: USAGE_PERIODS,
  by: ANALYTICS_GROUPS,
  order: ANALYTICS_ORDERS,
  view: ANALYTICS_VIEWS,
  env: KEY_ENVIRONMENTS,
} as const

export function readAnalyticsSearch(search: Record<string, unknown>): AnalyticsSearch {
  const texts = TEXTS.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : []
  })
  const chosen = Object.entries(CHOICES).flatMap(([name, known]) =>
    known.filter((value) => value === search[name]).map((value) => [name, value] as const),
  )
  return Object.fromEntries([...texts, ...chosen])
}

export function selectionOf(search: AnalyticsSearch): AnalyticsSelection {
  const { view: _, period = '7d', order = 'cost', by = 'account', group_tag: name, ...filters } = search
  if (by !== 'tag') return { ...filters, period, order, by }
  // Until a name is written, usage is shown by account.
  return { ...filters, period, order, by: isTagName(name) ? `tag:${name}` : 'account' }
}

const FILTERS = {
  account: 'account_id',
  project: 'project_id',
  key: 'key',
  model: 'model',
  provider: 'provider',
  env: 'env',
} as const

type RequestFilters = AdminRequestFilters & { readonly period?: '24h' | '7d' | '30d' }

/** The filters of the requests of a selection. */
export function requestsWithin({
  by: _by,
  order: _order,
  period,
  ...filters
}: AnalyticsSelection): RequestFilters {
  return { ...filters, ...(period !== '12mo' && { period }) }
}

/** The filters of the requests of a group. Null for groups that no filter finds. */
export function requestsOf(selection: AnalyticsSelection, value: string): RequestFilters | null {
  const { by } = selection
  if (value === '' || by === 'region') return null
  const within = requestsWithin(selection)
  if (by.startsWith('tag:')) return { ...within, tag: `${by.slice('tag:'.length)}=${value}` }
  const name = Object.entries(FILTERS).find(([dimension]) => dimension === by)?.[1]
  return name === undefined ? null : { ...within, [name]: value }
}
