import { isRecord } from '../../kernel/is-record.ts'
import { describeEntry, type CatalogModel } from '../catalog/catalog.ts'
import type { ListedModel, ListedPrice, PriceList, UnusedEntry } from './price-list.ts'

type Members = Readonly<Record<string, unknown>>

/** One amount that differs. */
interface AmountChange {
  readonly field: string
  /** Null: there was none. */
  readonly from: number | null
  readonly to: number
}

export type PriceDifference =
  | {
      readonly status: 'changed'
      /** Our id of the model. */
      readonly model: string
      readonly listed: ListedModel
      /** The price as it would be. */
      readonly price: Members
      readonly changes: readonly AmountChange[]
      /** Whether an amount grows or shrinks so much that it may be a mistake of the list. */
      readonly isSuspicious: boolean
    }
  /** Sold by a provider of this gateway, and no model of ours. */
  | { readonly status: 'new'; readonly model: string; readonly listed: ListedModel }
  /** A model of ours that the list of its provider does not name. */
  | { readonly status: 'gone'; readonly model: string; readonly provider: string }

export interface Comparison {
  readonly differences: readonly PriceDifference[]
  readonly problems: readonly UnusedEntry[]
  /** Models with the same price. */
  readonly sameCount: number
}

interface CompareOptions {
  /** The models of the gateway with their prices of now. */
  readonly models: readonly CatalogModel[]
  readonly isConfigured: (provider: string) => boolean
}

/** A price that grows or shrinks by more than this is only taken if it is named. */
const FACTOR_MAX = 5

/** Compares a public price list with the prices of this gateway. */
export function comparePrices(list: PriceList, { models, isConfigured }: CompareOptions): Comparison {
  const listed = new Map(list.models.map((one) => [placeOf(one), one]))
  const listedProviders = new Set(list.models.map(({ provider }) => provider))
  const unbelieved = new Set(list.problems.map(({ key }) => key))
  const taken = new Set<string>()
  const names = new Set(models.flatMap(({ id, aliases }) => [id, ...aliases]))
  const differences: PriceDifference[] = []
  const problems: UnusedEntry[] = [...list.problems]
  let sameCount = 0
  for (const model of models) {
    const places = model.routes.map(placeOf)
    for (const place of places) taken.add(place)
    const found = places.map((place) => listed.get(place)).find((one) => one !== undefined)
    if (found === undefined) {
      const gone = model.routes.find(({ provider }) => listedProviders.has(provider))
      const isDoubtful = model.routes.some(({ model: name }) => isNamed(name, unbelieved))
      if (gone !== undefined && !isDoubtful)
        differences.push({ status: 'gone', model: model.id, provider: gone.provider })
      continue
    }
    const compared = compareOne(model, found)
    if (compared === null)
      problems.push({ key: found.key, reason: `${model.id} is sold by another unit than the list says` })
    else if (compared.changes.length === 0) sameCount += 1
    else differences.push({ status: 'changed', model: model.id, listed: found, ...compared })
  }
  for (const [place, one] of listed)
    if (!taken.has(place) && !names.has(one.model) && isConfigured(one.provider)) {
      // Two providers may sell one model under one name.
      names.add(one.model)
      differences.push({ status: 'new', model: one.model, listed: one })
    }
  return { differences, problems, sameCount }
}

function placeOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} ${model}`
}

function isNamed(model: string, keys: ReadonlySet<string>): boolean {
  return [...keys].some((key) => key === model || key.endsWith(`/${model}`))
}

/** Returns null if the units differ. What the list does not say stays as it is. */
function compareOne(
  model: CatalogModel,
  { price: listed }: ListedModel,
): Pick<Extract<PriceDifference, { status: 'changed' }>, 'price' | 'changes' | 'isSuspicious'> | null {
  if (model.price.unit !== listed.unit) return null
  const { price: card } = describeEntry(model)
  if (!isRecord(card)) return null
  const current = amountsOf(card)
  const next = amountsOf({ ...listed })
  const changes = [...next].flatMap(([field, to]): AmountChange[] => {
    const from = current.get(field) ?? null
    return from === to ? [] : [{ field, from, to }]
  })
  return { price: mergePrice(card, listed), changes, isSuspicious: changes.some(isSuspicious) }
}

/** What lists do not say, or only some of them. Prices of prompt caches follow from the price of input instead. */
const KEPT_MEMBERS = [
  'audio_input_usd_per_1m',
  'audio_output_usd_per_1m',
  'long_context',
  'input_image_usd',
  'multipliers',
  'listed',
  'batch_factor',
  'batch_single_factor',
]

function mergePrice(card: Members, listed: ListedPrice): Members {
  const kept = Object.entries(card).filter(([name]) => KEPT_MEMBERS.includes(name))
  return { ...Object.fromEntries(kept), ...listed }
}

function isSuspicious({ from, to }: AmountChange): boolean {
  return from !== null && from > 0 && (to / from > FACTOR_MAX || to / from < 1 / FACTOR_MAX)
}

/** The amounts of a price by their names, those of steps with where they begin. */
function amountsOf(price: Members): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>()
  for (const [name, value] of Object.entries(price)) {
    if (typeof value === 'number') amounts.set(name, value)
    if (name !== 'long_context' || !Array.isArray(value)) continue
    for (const step of value) {
      if (!isRecord(step)) continue
      const { above_tokens: above, ...rates } = step
      for (const [rate, usd] of Object.entries(rates))
        if (typeof usd === 'number') amounts.set(`above ${String(above)}: ${rate}`, usd)
    }
  }
  return amounts
}
