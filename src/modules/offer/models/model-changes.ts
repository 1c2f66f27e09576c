import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { isSameValue } from '../configuration/same-value.ts'
import { readOffer } from '../read-offer.ts'
import type { GivenCost, OfferedModel, OfferedPrice, OfferedVisibility } from './offered-model.ts'
import { takeCosts, withoutRates } from './costs-of-routes.ts'
import { differenceOf, mergeMembers } from './member-changes.ts'
import type { AddedTogether, ModelChange } from './model-change.ts'
import { fixedByFile, requireId } from './model-names.ts'
import type { ModelRules } from './model-rules.ts'
import { createPriceChanges, floorOf, type Author, type PriceChanges } from './price-changes.ts'
import { readPricesOf } from './read-models.ts'
import { insertModel, removeModel, updateModel, type ModelDraft } from './write-model.ts'
import type { NewPrice } from './write-price.ts'

type Members = Readonly<Record<string, unknown>>

/** The costs of routes stand with the routes. */
export interface ModelInput extends Author {
  readonly id: string
  /** As in the catalog file, without id and price. */
  readonly entry: Members
  readonly price: Members
  readonly visibility: OfferedVisibility | null
}

/** Members that are absent stay; null removes one. */
export interface ModelPatch extends Author {
  readonly entry: Members
  readonly visibility?: OfferedVisibility | null | undefined
  /** Another price list from now on. */
  readonly price?: Members | undefined
}

/** Changes of models and prices. All throw `conflict` for what the catalog file says. */
export interface ModelChanges extends PriceChanges {
  /** As this process uses it. */
  find(id: string): OfferedModel | undefined
  add(input: ModelInput, together?: AddedTogether): Promise<ModelChange>
  change(id: string, patch: ModelPatch, together?: AddedTogether): Promise<ModelChange>
  remove(id: string, together?: AddedTogether): Promise<ModelChange>
  /** The entry of a model of the catalog file. Null: it has none with this id. */
  fileEntryOf(id: string): Members | null
  /** The latest first. */
  listPrices(id: string): Promise<readonly OfferedPrice[]>
}

interface Prepared {
  readonly id: string
  readonly members: Members
  readonly price: Members
  readonly costs: readonly GivenCost[]
  readonly visibility: OfferedVisibility | null
}

interface ModelChangesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly rules: ModelRules
  readonly change: (write: (transaction: Queryable) => Promise<bigint>) => Promise<bigint>
  readonly current: () => readonly OfferedModel[]
}

export function createModelChanges(options: ModelChangesOptions): ModelChanges {
  const { database, clock, rules, change } = options
  /** Read from the database, because another process may just have changed it. */
  const readStored = async (id: string, together?: AddedTogether): Promise<OfferedModel> => {
    const stored =
      together === undefined
        ? (await readOffer(database)).models.find((model) => model.id === id && model.removedAtMs === null)
        : together.stored.models.get(id)
    if (stored !== undefined) return stored
    throw rules.isOfFile(id) ? fixedByFile(id) : notFound('model')
  }
  const readPrices = async (id: string, together?: AddedTogether): Promise<readonly OfferedPrice[]> =>
    together === undefined ? readPricesOf(database, id) : (together.stored.prices.get(id) ?? [])
  const readPriced = async (id: string, together?: AddedTogether): Promise<OfferedPrice[]> =>
    (await readPrices(id, together)).filter(({ withdrawnAtMs }) => withdrawnAtMs === null)

  const planned = (difference: Members, write: ModelChange['write']): ModelChange => ({
    difference,
    write,
    make: () => change(write),
  })
  const prepare = (
    { id, members, price, costs: given, visibility }: Prepared,
    providers: ReadonlySet<string> | undefined,
  ) => {
    const { aliases, rates, costs } = rules.check({ ...members, id, price }, { providers, costs: given })
    for (const alias of aliases) requireId(alias, 'aliases')
    const other = aliases.find((alias) => rules.isOfFile(alias))
    if (other !== undefined) throw fixedByFile(other)
    if (new Set([id, ...aliases]).size <= aliases.length)
      throw invalidValue('aliases', 'A name is given twice.')
    const draft: ModelDraft = { id, entry: members, visibility, aliases }
    return { draft, rates, costs }
  }

  return {
    find: (id) => options.current().find((model) => model.id === id && model.removedAtMs === null),
    add: async ({ id, entry, visibility, price, authorKeyId, reason }, together) => {
      requireId(id, 'id')
      const { members, costs: given } = takeCosts(entry)
      const { draft, rates, costs } = prepare(
        { id, members, price, costs: given, visibility },
        together?.providers,
      )
      if (rules.isOfFile(id)) throw fixedByFile(id)
      return planned(differenceOf({}, { ...entry, visibility, price }), (transaction) => {
        const nowMs = floorOf(clock)
        const first = { price, rates, costs, effectiveFromMs: nowMs, authorKeyId, reason }
        return insertModel(transaction, draft, { price: first, nowMs })
      })
    },
    change: async (id, { entry, visibility, price, authorKeyId, reason }, together) => {
      const before = await readStored(id, together)
      const taken = takeCosts(entry)
      const members = mergeMembers(before.entry, taken.members)
      const prices = await readPriced(id, together)
      const nowMs = floorOf(clock)
      const current = prices.find(({ effectiveFromMs }) => effectiveFromMs <= nowMs) ?? prices.at(-1)
      const seen = visibility === undefined ? before.visibility : visibility
      const known = (current?.costs ?? []).map(withoutRates)
      const isRouted = entry['routes'] !== undefined
      const areCostsNew = isRouted && !isSameValue(taken.costs, known)
      const prepareWith = (list: Members, given: readonly GivenCost[] = []) =>
        prepare({ id, members, price: list, costs: given, visibility: seen }, together?.providers)
      const list = price ?? current?.price ?? {}
      const { draft, rates, costs } = prepareWith(list, isRouted ? taken.costs : [])
      // Those of the future have to suit the model, too.
      for (const one of prices) if (one.effectiveFromMs > nowMs) prepareWith(one.price)
      const from = { ...before.entry, visibility: before.visibility, price: current?.price, costs: known }
      const to = { ...members, visibility: seen, price: list, costs: areCostsNew ? taken.costs : known }
      return planned(differenceOf(from, to), (transaction) => {
        const atMs = floorOf(clock)
        const next: NewPrice | null =
          price === undefined && !areCostsNew
            ? null
            : {
                price: list,
                rates,
                costs: isRouted ? costs : null,
                effectiveFromMs: atMs,
                authorKeyId,
                reason,
              }
        return updateModel(transaction, draft, { known: before.version, price: next, nowMs: atMs })
      })
    },
    remove: async (id, together) => {
      const before = await readStored(id, together)
      return planned(differenceOf({ ...before.entry, visibility: before.visibility }, {}), (transaction) =>
        removeModel(transaction, before, floorOf(clock)),
      )
    },
    ...createPriceChanges({ clock, rules, planned, readStored, readPrices }),
    fileEntryOf: (id) => rules.fileEntryOf(id),
    listPrices: (id) => readPricesOf(database, id),
  }
}
