import { isRecord } from '../../../kernel/is-record.ts'
import type { GivenCost, OfferedCost, OfferedPrice } from './offered-model.ts'

type Members = Readonly<Record<string, unknown>>

/** Takes the costs out of the routes of an entry: they have dates, and are stored with the price lists. */
export function takeCosts(entry: Members): {
  readonly members: Members
  readonly costs: readonly GivenCost[]
} {
  const { routes } = entry
  if (!Array.isArray(routes)) return { members: entry, costs: [] }
  const costs: GivenCost[] = []
  const without = routes.map((route: unknown) => {
    if (!isRecord(route)) return route
    const { cost, ...rest } = route
    const { provider, model } = rest
    if (isRecord(cost) && typeof provider === 'string' && typeof model === 'string')
      costs.push({ provider, model, cost })
    return rest
  })
  return { members: { ...entry, routes: without }, costs }
}

/** Puts costs back to the routes that they are for. */
export function giveCosts(entry: Members, costs: readonly GivenCost[]): Members {
  const { routes } = entry
  if (!Array.isArray(routes) || costs.length === 0) return entry
  const costed = routes.map((route: unknown) => {
    if (!isRecord(route)) return route
    const found = costs.find((cost) => isOfRoute(cost, route))
    return found === undefined ? route : { ...route, cost: found.cost }
  })
  return { ...entry, routes: costed }
}

/**
 * The costs of a price list that the routes of its model have. Routes may have changed since it was made, and the file may have
 * another unit. `readEntry` is called if the list has costs.
 */
export function costsInUse(
  { isOfFile, costs }: Pick<OfferedPrice, 'isOfFile' | 'costs'>,
  readEntry: () => Members | null | undefined,
): readonly OfferedCost[] {
  if (costs === null || costs.length === 0) return []
  const { routes, price } = readEntry() ?? {}
  if (!Array.isArray(routes)) return []
  const used = new Set(routes.map((route: unknown) => costs.findIndex((cost) => isOfRoute(cost, route))))
  const inUse = costs.filter((_, index) => used.has(index))
  const isComparable = ({ cost }: OfferedCost) => !isRecord(price) || cost['unit'] === price['unit']
  return isOfFile && !inUse.every(isComparable) ? [] : inUse
}

/** Whether nothing of the price list differs from the catalog file, which has this entry of the model. */
export function isAsInFile(
  list: Pick<OfferedPrice, 'isOfFile' | 'costs'>,
  entry: Members | null | undefined,
): boolean {
  return list.isOfFile && costsInUse(list, () => entry).length === 0
}

function isOfRoute({ provider, model }: GivenCost, route: unknown): boolean {
  if (!isRecord(route)) return false
  return provider === route['provider'] && (model ?? route['model']) === route['model']
}

/** As they were given. */
export function withoutRates({ provider, model, cost }: OfferedCost): GivenCost {
  return { provider, ...(model === undefined ? {} : { model }), cost }
}
