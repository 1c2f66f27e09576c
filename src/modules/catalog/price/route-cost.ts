import type { CatalogModel, ModelRoute, RouteCost } from '../catalog-model.ts'
import type { CatalogEntry, PriceList } from '../entry/catalog-schema.ts'
import { cachePricesOf, readPriceList } from './read-price.ts'
import { filePriceVersion, fromStoredPrice } from './stored-price.ts'

/** Reads what the provider of a route charges for it, by the rules of prices. */
export function readRouteCost(
  route: CatalogEntry['routes'][number],
  { vendor }: Pick<CatalogEntry, 'vendor'>,
  { place, problems }: { readonly place: string; readonly problems: string[] },
): RouteCost | null {
  const { cost } = route
  if (cost === undefined) return null
  const cachePrices = cachePricesOf({ vendor, routes: [route] })
  const price = readPriceList(cost, { cachePrices, place, problems })
  return { price, version: filePriceVersion(price) }
}

/** What is wrong with the amounts that a list has, or lacks, for its unit. */
export function findAmountProblems(price: PriceList, place: string): string[] {
  const needed =
    price.unit === 'token' ? (['input_usd_per_1m', 'output_usd_per_1m'] as const) : (['usd'] as const)
  return needed
    .filter((field) => price[field] === undefined)
    .map((field) => `${place}.${field}: is required for the unit '${price.unit}'`)
}

/** A cost is compared with the price of the same request, so that both count the same. */
export function findCostProblems({ price, routes }: CatalogEntry, place: string): string[] {
  return routes.flatMap(({ cost }, index) => {
    if (cost === undefined) return []
    const ofCost = `${place}.routes[${index}].cost`
    return cost.unit === price.unit
      ? findAmountProblems(cost, ofCost)
      : [`${ofCost}.unit: is '${cost.unit}', and the price is by '${price.unit}'`]
  })
}

/** What one or all routes of a provider cost, as it is stored with a price list. */
export interface StoredCost {
  readonly provider: string
  /** The provider's name of the model. Absent: all routes of the provider. */
  readonly model?: string | undefined
  /** As for `fromStoredPrice`. */
  readonly rates: unknown
}

/** Returns the routes with these costs in the place of their own. `version` is that of the price list. */
export function withCosts(
  routes: CatalogModel['routes'],
  costs: readonly StoredCost[],
  version: string,
): CatalogModel['routes'] {
  const read = costs.map((cost, index) => ({
    of: cost,
    cost: { price: fromStoredPrice(cost.rates), version: `${version}/${index}` },
  }))
  return routes.map((route) => {
    const found = read.find(({ of }) => isOfRoute(of, route))
    return found === undefined ? route : { ...route, cost: found.cost }
  })
}

export function isOfRoute(
  { provider, model }: Pick<StoredCost, 'provider' | 'model'>,
  route: Pick<ModelRoute, 'provider' | 'model'>,
): boolean {
  return provider === route.provider && (model === undefined || model === route.model)
}

/** What the route that served a request costs. Undefined: it is not known. */
export function costOfRoute(
  { routes }: Pick<CatalogModel, 'routes'>,
  provider: string,
  upstreamModel: string | undefined,
): RouteCost | undefined {
  const ofProvider = routes.filter((route) => route.provider === provider)
  const [only, ...others] = ofProvider
  if (others.length === 0) return only?.cost
  return ofProvider.find(({ model }) => model === upstreamModel)?.cost
}
