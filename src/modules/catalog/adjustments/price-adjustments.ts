import type { OfferedAdjustment } from '../../offer/offer.ts'
import type { Place } from '../../../storage/place.ts'
import type { CatalogModel } from '../catalog-model.ts'
import { adjustPrice, concernsUnit } from './adjust-price.ts'
import { fromStoredTerms, type PriceTerms } from './price-terms.ts'

/** Markups and discounts of one version of the database. All that a request needs is in memory. */
export interface PriceAdjustments {
  /** Returns the model with the price that this place pays for a request that begins at this moment. */
  adjust(model: CatalogModel, place: Place, atMs: number): CatalogModel
  /** Adjustments that cannot be applied as they are stored, and why. */
  readonly problems: readonly string[]
}

export const NOT_ADJUSTED: PriceAdjustments = { adjust: (model) => model, problems: [] }

/** Stands between the version of a price list and that of the adjustment in the version that a bill names. The ledger reads them apart. */
const ADJUSTMENT_SEPARATOR = '+'

interface Adjustment extends Pick<OfferedAdjustment, 'version' | 'effectiveFromMs' | 'effectiveUntilMs'> {
  readonly terms: PriceTerms
}

/** By model; every model is ''. The one that began last comes first. */
type ByModel = Map<string, Adjustment[]>

/** Adjusted models that are kept for one model. Most accounts pay the same as others. */
const KEPT_MAX = 1_000

/**
 * One adjustment counts for a request, the nearest: one for its project, otherwise for its account, otherwise for everybody; among these
 * one that names the model before one that does not; among these the one that began last and has not ended.
 */
export function createPriceAdjustments(offered: readonly OfferedAdjustment[]): PriceAdjustments {
  if (offered.length === 0) return NOT_ADJUSTED
  const problems: string[] = []
  const ofProjects = new Map<string, ByModel>()
  const ofAccounts = new Map<string, ByModel>()
  const ofAll: ByModel = new Map()
  for (const one of offered) {
    if (one.withdrawnAtMs !== null) continue
    const adjustment = readAdjustment(one, problems)
    if (adjustment === null) continue
    const { projectId, accountId, model } = one
    let byModel = ofAll
    if (projectId !== null) byModel = getOrAdd(ofProjects, projectId, newByModel)
    else if (accountId !== null) byModel = getOrAdd(ofAccounts, accountId, newByModel)
    getOrAdd(byModel, model ?? '', newList).push(adjustment)
  }
  for (const byModel of [...ofProjects.values(), ...ofAccounts.values(), ofAll])
    for (const list of byModel.values()) list.sort(compareByBeginning)

  const find = (model: CatalogModel, { accountId, projectId }: Place, atMs: number): Adjustment | undefined =>
    findIn(ofProjects.get(projectId ?? accountId), model, atMs) ??
    findIn(ofAccounts.get(accountId), model, atMs) ??
    findIn(ofAll, model, atMs)

  const adjusted = new WeakMap<CatalogModel, Map<bigint, CatalogModel>>()
  return {
    problems,
    adjust: (model, place, atMs) => {
      // A price that comes from elsewhere, as that of a deployment does, is not adjusted: no bill could name it.
      if (model.priceVersion === undefined) return model
      const adjustment = find(model, place, atMs)
      if (adjustment === undefined) return model
      const known = adjusted.get(model) ?? new Map<bigint, CatalogModel>()
      if (known.size === 0 || known.size > KEPT_MAX) {
        known.clear()
        adjusted.set(model, known)
      }
      return getOrAdd(known, adjustment.version, () => withAdjustment(model, adjustment))
    },
  }
}

function readAdjustment(one: OfferedAdjustment, problems: string[]): Adjustment | null {
  try {
    return { ...one, terms: fromStoredTerms(one.terms) }
  } catch (error) {
    problems.push(`${one.version}: ${String(error)}`)
    return null
  }
}

function compareByBeginning(left: Adjustment, right: Adjustment): number {
  return right.effectiveFromMs - left.effectiveFromMs || (right.version > left.version ? 1 : -1)
}

function findIn(byModel: ByModel | undefined, model: CatalogModel, atMs: number): Adjustment | undefined {
  if (byModel === undefined) return undefined
  const isInForce = ({ effectiveFromMs, effectiveUntilMs, terms }: Adjustment): boolean =>
    effectiveFromMs <= atMs &&
    (effectiveUntilMs === null || atMs < effectiveUntilMs) &&
    concernsUnit(terms, model.price.unit)
  return byModel.get(model.id)?.find(isInForce) ?? byModel.get('')?.find(isInForce)
}

function withAdjustment(model: CatalogModel, { version, terms }: Adjustment): CatalogModel {
  return Object.freeze({
    ...model,
    price: adjustPrice(model.price, terms),
    priceVersion: `${model.priceVersion ?? ''}${ADJUSTMENT_SEPARATOR}${version}`,
  })
}

const newByModel = (): ByModel => new Map()
const newList = (): Adjustment[] => []

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const added = create()
  map.set(key, added)
  return added
}
