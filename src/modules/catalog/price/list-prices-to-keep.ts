import type { CatalogModel } from '../catalog-model.ts'
import { toStoredPrice, type StoredPrice } from './stored-price.ts'
import type { TimedModel } from '../lookup/timed-model.ts'

/** The price lists of the file and what routes cost, by the versions that records name. */
export function listPricesToKeep(
  ofFile: readonly CatalogModel[],
  models: readonly TimedModel[],
): ReadonlyMap<string, StoredPrice> {
  const costs = [...ofFile, ...models.map(({ first }) => first)].flatMap(({ routes }) =>
    routes.flatMap(({ cost }) => cost ?? []),
  )
  return new Map([
    ...ofFile.map(({ price, priceVersion = '' }) => [priceVersion, toStoredPrice(price)] as const),
    ...costs.map(({ price, version }) => [version, toStoredPrice(price)] as const),
  ])
}
