import type { CatalogModel } from '../catalog-model.ts'

/** A model with the price lists that it has one after another. All objects are made before a request needs them. */
export interface TimedModel {
  /** With the price before the first of the others. */
  readonly first: CatalogModel
  /** In the order of their moments. Mostly none. */
  readonly later: readonly PricedFrom[]
}

interface PricedFrom {
  /** Since the epoch. */
  readonly fromMs: number
  readonly model: CatalogModel
}

/** Returns the model with the price of this moment. */
export function modelAt({ first, later }: TimedModel, atMs: number): CatalogModel {
  for (let index = later.length - 1; index >= 0; index -= 1) {
    const priced = later[index]
    if (priced !== undefined && priced.fromMs <= atMs) return priced.model
  }
  return first
}
