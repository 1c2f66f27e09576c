import { isDay } from '../../api/days.ts'
import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import {
  CALENDAR_PERIODS,
  isTagName,
  USAGE_DIMENSIONS,
  USAGE_PERIODS,
  type UsageDimension,
  type UsageSelection,
} from '../../api/usage.ts'

export const USAGE_VIEWS = ['spend', 'requests', 'tokens', 'latency'] as const
type UsageView = (typeof USAGE_VIEWS)[number]

/** What differs from the usual selection is in the address. */
export interface UsageSearch extends Partial<Omit<UsageSelection, 'by'>> {
  readonly by?: UsageDimension | 'tag' | undefined
  /** The name of the tag whose values are the groups. */
  readonly group_tag?: string | undefined
  readonly view?: UsageView | undefined
}

const TEXTS = ['zone', 'model', 'key', 'provider', 'tag', 'group_tag', 'project_id'] as const

export const USAGE_GROUPS = [...USAGE_DIMENSIONS, 'tag'] as const

export function readUsageSearch(search: Record<string, unknown>): UsageSearch {
  const pick = <Value extends string>(known: readonly Value[], name: string): Value | undefined =>
    known.find((value) => value === search[name])
  const [period, by, view, env] = [
    pick([...CALENDAR_PERIODS, ...USAGE_PERIODS, 'own' as const], 'period'),
    pick(USAGE_GROUPS, 'by'),
    pick(USAGE_VIEWS, 'view'),
    pick(KEY_ENVIRONMENTS, 'env'),
  ]
  const texts = TEXTS.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : []
  })
  const days = (['since', 'until'] as const).flatMap((name) =>
    period === 'own' && isDay(search[name]) ? [[name, search[name]] as const] : [],
  )
  return {
    ...Object.fromEntries([...texts, ...days]),
    ...(period && { period }),
    ...(by && { by }),
    ...(view && { view }),
    ...(env && { env }),
  }
}

export function selectionOf(search: UsageSearch): UsageSelection {
  const { view: _, period = '7d', by = 'model', group_tag: name, ...filters } = search
  if (by !== 'tag') return { ...filters, period, by }
  // Until a name is written, usage is shown by model.
  return { ...filters, period, by: isTagName(name) ? `tag:${name}` : 'model' }
}
