import { adjustPrice } from '../adjustments/adjust-price.ts'
import type { CatalogModel, ModelPrice } from '../catalog-model.ts'

/** How a line of a batch is asked, which decides its price. */
export type BatchWay =
  | { readonly kind: 'single' }
  /** By the batch API of a vendor, with the factor that the vendor gives. */
  | { readonly kind: 'handed'; readonly vendorMillionths: bigint }

const WHOLE_MILLIONTHS = 1_000_000n
/** Stand in front of the factor in the version that a bill names, after that of an adjustment. The ledger reads them apart. */
const SEPARATOR = '+'
const FACTOR = 'b'

/** Returns the model with the price that a line of a batch has. */
export function atBatchPrice(model: CatalogModel, way: BatchWay): CatalogModel {
  const millionths = batchMillionthsOf(model.price, way)
  // A price that comes from elsewhere, as that of a deployment does, has no factor: no bill could name it.
  if (millionths === WHOLE_MILLIONTHS || model.priceVersion === undefined) return model
  const known = priced.get(model) ?? new Map<bigint, CatalogModel>()
  const found = known.get(millionths)
  if (found !== undefined) return found
  const made = Object.freeze({
    ...model,
    price: applyBatchFactor(model.price, millionths),
    priceVersion: withFactor(model.priceVersion, millionths),
  })
  priced.set(model, known.set(millionths, made))
  return made
}

/** A model has at most two factors of its own, and one for each vendor. */
const priced = new WeakMap<CatalogModel, Map<bigint, CatalogModel>>()

export function batchMillionthsOf(price: ModelPrice, way: BatchWay): bigint {
  if (way.kind === 'single') return price.batchSingleMillionths ?? WHOLE_MILLIONTHS
  return price.batchMillionths ?? way.vendorMillionths
}

/** Applies the factor to each amount of the list, rounded up as amounts of an adjustment are. */
export function applyBatchFactor(price: ModelPrice, millionths: bigint): ModelPrice {
  return adjustPrice(price, { kind: 'percent', millionths: millionths - WHOLE_MILLIONTHS })
}

/** `list`, `list+adjustment`, `list++b500000` or `list+adjustment+b500000`. */
export function withFactor(version: string, millionths: bigint): string {
  const missing = version.includes(SEPARATOR) ? '' : SEPARATOR
  return `${version}${missing}${SEPARATOR}${FACTOR}${millionths}`
}

/** Reads what stands behind the second separator of a version. Null: there is no factor that this release knows. */
export function readFactor(text: string): bigint | null {
  const digits = text.startsWith(FACTOR) ? text.slice(FACTOR.length) : ''
  return /^\d{1,7}$/.test(digits) ? BigInt(digits) : null
}
