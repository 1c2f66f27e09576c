import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { isSameValue } from '../configuration/same-value.ts'
import { readOffer, type StoredOffer } from '../read-offer.ts'
import { requireMoment } from '../require-moment.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type {
  GivenCost,
  OfferedCost,
  OfferedModel,
  OfferedPrice,
  OfferedVisibility,
} from './offered-model.ts'
import { takeCosts, withoutRates } from './costs-of-routes.ts'
import { differenceOf, mergeMembers } from './member-changes.ts'
import { fixedByFile, requireId } from './model-names.ts'
import { readPricesOf } from './read-models.ts'
import { insertModel, removeModel, updateModel, type ModelDraft } from './write-model.ts'
import { addPrice, returnToFile, withdrawPrice, type NewPrice } from './write-price.ts'

/** What the catalog knows of models. */
export interface ModelRules {
  /** Throws `invalid_value` unless this is an entry of the catalog with a price. */
  check(
    entry: Entry,
    also?: { readonly providers?: ReadonlySet<string> | undefined; readonly costs?: readonly GivenCost[] },
  ): {
    readonly aliases: readonly string[]
    readonly rates: unknown
    /** The given ones, with what is computed with. */
    readonly costs: readonly OfferedCost[]
  }
  /** Whether the catalog file has a model with this id or alias. */
  isOfFile(name: string): boolean
  /** The entry of a model of the file, if there is one with this id. */
  fileEntryOf(id: string): Entry | null
}

type Members = Readonly<Record<string, unknown>>
type Entry = Members & { readonly id: string }

interface PriceInput {
  readonly price: Members
  /** What routes cost from then on. Absent: what they cost before. */
  readonly costs?: readonly GivenCost[] | undefined
  /** Null: at once. */
  readonly effectiveFromMs: number | null
  readonly authorKeyId: string | null
  readonly reason: string | null
}

/** The costs of routes stand with the routes. */
export interface ModelInput extends Omit<PriceInput, 'effectiveFromMs' | 'costs'> {
  readonly id: string
  /** As in the catalog file, without id and price. */
  readonly entry: Members
  readonly visibility: OfferedVisibility | null
}

/** Members that are absent stay; null removes one. */
export interface ModelPatch extends Omit<PriceInput, 'effectiveFromMs' | 'price' | 'costs'> {
  readonly entry: Members
  readonly visibility?: OfferedVisibility | null | undefined
  /** Another price list from now on. */
  readonly price?: Members | undefined
}

/** A change that is checked and not made yet. */
export interface ModelChange {
  /** What differs, for the audit log. */
  readonly difference: Members
  /** Writes the change, together with others. Returns the version of the offer. */
  write(transaction: Queryable): Promise<bigint>
  /** Makes the change. Returns the version of the offer when every process uses it. */
  make(): Promise<bigint>
}

/** What belongs to the same change of many parts. */
export interface AddedTogether {
  /** The state that the whole change begins with, which is read once. */
  readonly stored: Pick<StoredOffer, 'models' | 'prices'>
  /** Those that are added, and therefore not known yet. */
  readonly providers: ReadonlySet<string>
  /** The entries of models, by id. */
  readonly models: ReadonlyMap<string, Members>
}

/** Changes of models and prices. All throw `conflict` for what the catalog file says. */
export interface ModelChanges {
  /** As this process uses it. */
  find(id: string): OfferedModel | undefined
  add(input: ModelInput, together?: AddedTogether): Promise<ModelChange>
  change(id: string, patch: ModelPatch, together?: AddedTogether): Promise<ModelChange>
  remove(id: string, together?: AddedTogether): Promise<ModelChange>
  /** Of any model, also one of the file. At once, it may be without a price: that of now stays. */
  addPrice(
    id: string,
    input: Omit<PriceInput, 'price'> & { readonly price?: Members | undefined },
    together?: AddedTogether,
  ): Promise<ModelChange>
  /** Withdraws one before it has effect. Ends the current one of a model of the file: from now on it has the price of the file. */
  removePrice(
    id: string,
    version: bigint,
    author: Pick<PriceInput, 'authorKeyId' | 'reason'>,
    together?: AddedTogether,
  ): Promise<ModelChange>
  /** Whether the catalog file has a model with this id. */
  isOfFile(id: string): boolean
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
    const { models } = together?.stored ?? (await readOffer(database))
    const stored = models.find((model) => model.id === id && model.removedAtMs === null)
    if (stored !== undefined) return stored
    throw rules.isOfFile(id) ? fixedByFile(id) : notFound('model')
  }
  const readPrices = async (id: string, together?: AddedTogether): Promise<readonly OfferedPrice[]> =>
    together === undefined
      ? readPricesOf(database, id)
      : together.stored.prices
          .filter(({ model }) => model === id)
          .toSorted((left, right) => right.effectiveFromMs - left.effectiveFromMs)
  const readPriced = async (id: string, together?: AddedTogether): Promise<OfferedPrice[]> =>
    (await readPrices(id, together)).filter(({ withdrawnAtMs }) => withdrawnAtMs === null)

  /** The price list that is charged now. Undefined: that of the file. */
  const priceNow = async (id: string, together?: AddedTogether): Promise<Members | undefined> => {
    const nowMs = floorOf(clock)
    const found = (await readPriced(id, together)).find(({ effectiveFromMs }) => effectiveFromMs <= nowMs)
    return found?.isOfFile === true ? undefined : found?.price
  }

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
    addPrice: async (id, { price: given, costs, effectiveFromMs, authorKeyId, reason }, together) => {
      // The price of now is not that of then: another may be set for the time between.
      if (given === undefined && effectiveFromMs !== null)
        throw invalidValue('price', 'Costs of the future need the price of that moment.')
      const entry = rules.fileEntryOf(id) ?? {
        ...(together?.models.get(id) ?? (await readStored(id, together)).entry),
        id,
      }
      const price = given ?? (await priceNow(id, together)) ?? membersOf(entry['price'])
      const checked = rules.check({ ...entry, price }, { providers: together?.providers, costs: costs ?? [] })
      const { rates } = checked
      requireMoment('effective_from', effectiveFromMs, clock.nowMs())
      const from = effectiveFromMs === null ? null : new Date(effectiveFromMs).toISOString()
      const difference = {
        ...(given === undefined ? {} : { price: { from: null, to: price } }),
        ...(costs === undefined ? {} : { costs: { from: null, to: costs } }),
        effective_from: { from: null, to: from },
        reason,
      }
      return planned(difference, (transaction) => {
        const nowMs = floorOf(clock)
        requireMoment('effective_from', effectiveFromMs, nowMs)
        const row = {
          price,
          rates,
          costs: costs === undefined ? null : checked.costs,
          effectiveFromMs: effectiveFromMs ?? nowMs,
          authorKeyId,
          reason,
        }
        return addPrice(transaction, { ...row, model: id, nowMs })
      })
    },
    removePrice: async (id, version, author, together) => {
      const prices = await readPrices(id, together)
      const found = prices.find((one) => one.version === version)
      if (found === undefined) throw notFound('price list')
      const entry = rules.fileEntryOf(id)
      const nowMs = clock.nowMs()
      const current = prices.find((one) => one.withdrawnAtMs === null && one.effectiveFromMs <= nowMs)
      if (entry === null || found !== current || found.isOfFile) {
        const difference = { price: { from: found.price, to: null }, effective_from: isoOf(found) }
        return planned(difference, (transaction) => withdrawPrice(transaction, found, floorOf(clock)))
      }
      const price = membersOf(entry['price'])
      const { rates } = rules.check(entry)
      return planned({ price: { from: found.price, to: price }, source: 'file' }, (transaction) =>
        returnToFile(transaction, found, { ...author, price, rates, costs: [], nowMs: floorOf(clock) }),
      )
    },
    isOfFile: (id) => rules.fileEntryOf(id) !== null,
    listPrices: (id) => readPricesOf(database, id),
  }
}

function membersOf(value: unknown): Members {
  return isRecord(value) ? value : {}
}

/** Without parts of a millisecond, as it is stored. */
function floorOf(clock: Clock): number {
  return Math.floor(clock.nowMs())
}

function isoOf({ effectiveFromMs }: OfferedPrice): string {
  return new Date(effectiveFromMs).toISOString()
}
