import { isRecord } from '../../kernel/is-record.ts'
import type { OfferedAdjustment, OfferedModel, OfferedPrice } from '../offer/offer.ts'
import type { CatalogModel } from './catalog-model.ts'
import { readEntry } from './file/load-catalog.ts'
import { withCosts } from './price/route-cost.ts'
import { fromStoredPrice } from './price/stored-price.ts'
import type { TimedModel } from './lookup/timed-model.ts'

/** What operators added while the gateway runs, as one version of the database. */
export interface CatalogOffer {
  readonly models: readonly OfferedModel[]
  /** Those that can still apply, of models of the file too. */
  readonly prices: readonly OfferedPrice[]
  /** Markups and discounts. */
  readonly adjustments: readonly OfferedAdjustment[]
}

export const NOTHING_OFFERED: CatalogOffer = { models: [], prices: [], adjustments: [] }

export interface MergedCatalog {
  readonly models: readonly TimedModel[]
  /** By their ids, models that were removed lately. */
  readonly former: ReadonlyMap<string, CatalogModel>
  /** Models that cannot be served as they are stored, and why. */
  readonly problems: readonly string[]
}

/** Keeps models that did not change from one version to the next, also with the price lists that they have, by version. */
export type ReadModels = Map<
  string,
  {
    readonly version: bigint
    readonly model: CatalogModel
    readonly priced: Map<bigint, CatalogModel>
  }
>

/**
 * Puts what operators added behind the models of the file, whose names come first, and gives every model its price lists. A model
 * without a price is left out: it would be free.
 */
export function mergeOffered(
  ofFile: readonly CatalogModel[],
  { models, prices }: CatalogOffer,
  known: ReadModels,
): MergedCatalog {
  const problems: string[] = []
  const pricesOf = groupByModel(prices)
  const taken = new Set(ofFile.flatMap(({ id, aliases }) => [id, ...aliases]))
  const former = new Map<string, CatalogModel>()
  const removals = new Map(models.map(({ id, removedAtMs }) => [id, removedAtMs ?? 0]))
  const merged = ofFile.map((model) => {
    // Those of a removed model of this name went with it.
    const isItsOwn = ({ effectiveFromMs }: OfferedPrice) => effectiveFromMs > (removals.get(model.id) ?? 0)
    return addPrices(model, pricesOf.get(model.id)?.filter(isItsOwn) ?? [])
  })
  for (const offered of models) {
    const [price, ...later] = pricesOf.get(offered.id) ?? []
    // The newest suits the model as it is. Older ones may be of a time when it was of another kind.
    const newest = later.at(-1) ?? price
    if (offered.removedAtMs !== null) {
      const model = newest && readOffered(offered, newest, { known, taken, problems: [] })
      if (model && price) former.set(offered.id, withKnownPrice(known, model, price))
      continue
    }
    if (taken.has(offered.id)) {
      problems.push(`${offered.id}: the catalog file has a model of this name`)
      continue
    }
    const model = newest === undefined ? null : readOffered(offered, newest, { known, taken, problems })
    if (model === null || price === undefined)
      problems.push(`${offered.id}: it is not served as it is stored`)
    else {
      const priced = (one: OfferedPrice) => withKnownPrice(known, model, one)
      merged.push({
        first: priced(price),
        later: later.map((one) => ({ fromMs: one.effectiveFromMs, model: priced(one) })),
      })
    }
  }
  const stored = new Set(models.map(({ id }) => id))
  for (const id of known.keys()) if (!stored.has(id)) known.delete(id)
  return { models: merged, former, problems }
}

function groupByModel(prices: readonly OfferedPrice[]): ReadonlyMap<string, readonly OfferedPrice[]> {
  const grouped = Map.groupBy(prices, ({ model }) => model)
  for (const list of grouped.values()) list.sort((a, b) => a.effectiveFromMs - b.effectiveFromMs)
  return grouped
}

interface ReadOptions {
  readonly known: ReadModels
  readonly taken: ReadonlySet<string>
  readonly problems: string[]
}

function readOffered(
  { id, version, entry, visibility }: OfferedModel,
  { price }: OfferedPrice,
  { known, taken, problems }: ReadOptions,
): CatalogModel | null {
  const before = known.get(id)
  if (before?.version === version && before.model.aliases.every((alias) => !taken.has(alias)))
    return before.model
  const model = readEntry({ place: id, entry: { ...entry, id, price } }, problems)
  if (model === null) return null
  const read = Object.freeze({
    ...model,
    aliases: model.aliases.filter((alias) => !taken.has(alias)),
    isOffered: true as const,
    ...(visibility === null
      ? {}
      : {
          visibility: {
            accountIds: new Set(visibility.accountIds),
            projectIds: new Set(visibility.projectIds),
          },
        }),
  })
  known.set(id, { version, model: read, priced: new Map() })
  return read
}

/** More than a model usually has between two changes of itself. */
const PRICED_MAX = 100

/** Each list stands for itself: `model` has the routes as they are without any of them. */
function withKnownPrice(known: ReadModels, model: CatalogModel, price: OfferedPrice): CatalogModel {
  const priced = known.get(model.id)?.priced
  const before = priced?.get(price.version)
  if (before !== undefined) return before
  const made = withPrice(model, price)
  if (priced !== undefined && priced.size >= PRICED_MAX) priced.clear()
  priced?.set(price.version, made)
  return made
}

function addPrices(model: CatalogModel, prices: readonly OfferedPrice[]): TimedModel {
  return {
    first: model,
    later: prices.map((price) => ({
      fromMs: price.effectiveFromMs,
      model: price.isOfFile ? withCostsOf(model, price) : withPrice(model, price),
    })),
  }
}

/** The price of the file, whatever it is now. What routes cost counts while it is in the same unit. */
function withCostsOf(model: CatalogModel, { version, costs }: OfferedPrice): CatalogModel {
  if (costs === null || costs.length === 0) return model
  const routes = withCosts(model.routes, costs, String(version))
  const areComparable = routes.every(({ cost }) => cost === undefined || cost.price.unit === model.price.unit)
  return areComparable ? Object.freeze({ ...model, routes }) : model
}

function withPrice(model: CatalogModel, { version, price: given, rates, costs }: OfferedPrice): CatalogModel {
  const { priceFile: _, ...rest } = model
  const price = fromStoredPrice(rates)
  return Object.freeze({
    ...rest,
    price,
    routes: costs === null ? model.routes : withCosts(model.routes, costs, String(version)),
    priceVersion: String(version),
    isPriceListed: price.unit === 'token' && !(isRecord(given) && given['listed'] === false),
  })
}
