import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { isStorable } from '../../../kernel/storable-text.ts'
import type { GivenCost } from '../../offer/offer.ts'
import type { CatalogModel } from '../catalog-model.ts'
import { readEntry } from '../file/load-catalog.ts'
import { isOfRoute } from '../price/route-cost.ts'
import { toStoredPrice, type StoredPrice } from '../price/stored-price.ts'

/** A model that an operator gives, as it would be used. */
export interface CheckedEntry {
  readonly model: CatalogModel
  /** The exact integers of its price. */
  readonly rates: StoredPrice
  /** What its routes cost, with exact integers. */
  readonly costs: readonly CheckedCost[]
}

type CheckedCost = GivenCost & { readonly rates: StoredPrice }

/** As large as the largest entries of the built-in catalog several times over. */
const ENTRY_CHARACTERS_MAX = 32_768
const PROBLEMS_SHOWN_MAX = 10

type Entry = Readonly<Record<string, unknown>> & { readonly id: string }

/** Reads an entry by the rules of the catalog file, with these costs of its routes. Throws `invalid_value` with what is wrong. */
export function checkEntry(given: Entry, costs: readonly GivenCost[] = []): CheckedEntry {
  const entry = costs.length === 0 ? given : { ...given, routes: addCosts(given['routes'], costs) }
  if (JSON.stringify(entry).length > ENTRY_CHARACTERS_MAX)
    throw invalid(`A model has at most ${ENTRY_CHARACTERS_MAX} characters.`)
  if (!isPlain(entry)) throw invalid('A text has characters that cannot be stored.')
  const problems: string[] = []
  const model = readEntry({ place: '', entry }, problems)
  if (model === null || problems.length > 0)
    throw invalid(
      problems
        .slice(0, PROBLEMS_SHOWN_MAX)
        .map((problem) => problem.replace(/^\./, ''))
        .join('; '),
    )
  return {
    model,
    rates: toStoredPrice(model.price),
    costs: costs.map((_, index) => checkCost(model, costs, index)),
  }
}

const COSTS_MAX = 32

function addCosts(routes: unknown, costs: readonly GivenCost[]): unknown {
  if (costs.length > COSTS_MAX) throw invalid(`A model has at most ${COSTS_MAX} costs.`)
  if (!Array.isArray(routes)) return routes
  return routes.map((route: unknown) => {
    if (!isRecord(route)) return route
    const { provider, model } = route
    if (typeof provider !== 'string' || typeof model !== 'string') return route
    const given = costs.find((one) => isOfRoute(one, { provider, model }))
    return given === undefined ? route : { ...route, cost: given.cost }
  })
}

/** A cost that belongs to no route would be forgotten, and the margin looked better than it is. */
function checkCost(model: CatalogModel, costs: readonly GivenCost[], index: number): CheckedCost {
  const own = model.routes.find((route) => costs.findIndex((one) => isOfRoute(one, route)) === index)
  const given = costs[index]
  if (own?.cost === undefined || given === undefined)
    throw invalidValue(
      `costs.${index}`,
      `The model has no route of '${given?.provider}' with this name, or its cost is given before.`,
    )
  return { ...given, rates: toStoredPrice(own.cost.price) }
}

function invalid(message: string): AppError {
  return new AppError('invalid_value', message)
}

/** Texts are shown in pages, logs and headers, so that none may have control characters. */
function isPlain(value: unknown): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  if (typeof value === 'string') return isStorable(value) && !/[\u0000-\u001f\u007f]/.test(value)
  if (Array.isArray(value)) return value.every(isPlain)
  return !isRecord(value) || Object.entries(value).every(([name, one]) => isPlain(name) && isPlain(one))
}
