import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import { USAGE_DIMENSIONS, USAGE_PERIODS, type UsageSelection } from '../../api/usage.ts'

export const USAGE_VIEWS = ['spend', 'requests', 'tokens', 'latency'] as const
type UsageView = (typeof USAGE_VIEWS)[number]

/** What differs from the usual selection is in the address. */
export interface UsageSearch extends Partial<UsageSelection> {
  readonly view?: UsageView | undefined
}

const TEXTS = ['model', 'key', 'provider'] as const

export function readUsageSearch(search: Record<string, unknown>): UsageSearch {
  const pick = <Value extends string>(known: readonly Value[], name: string): Value | undefined =>
    known.find((value) => value === search[name])
  const [period, by, view, env] = [
    pick(USAGE_PERIODS, 'period'),
    pick(USAGE_DIMENSIONS, 'by'),
    pick(USAGE_VIEWS, 'view'),
    pick(KEY_ENVIRONMENTS, 'env'),
  ]
  const texts = TEXTS.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : []
  })
  return {
    ...Object.fromEntries(texts),
    ...(period && { period }),
    ...(by && { by }),
    ...(view && { view }),
    ...(env && { env }),
  }
}

export function selectionOf(search: UsageSearch): UsageSelection {
  const { view: _, period = '7d', by = 'model', ...filters } = search
  return { ...filters, period, by }
}
