import { isRecord } from '../../../kernel/is-record.ts'
import type { GivenCost, OfferedCost } from './offered-model.ts'

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
    const found = costs.find(
      ({ provider, model }) => provider === route['provider'] && (model ?? route['model']) === route['model'],
    )
    return found === undefined ? route : { ...route, cost: found.cost }
  })
  return { ...entry, routes: costed }
}

/** As they were given. */
export function withoutRates({ provider, model, cost }: OfferedCost): GivenCost {
  return { provider, ...(model === undefined ? {} : { model }), cost }
}
