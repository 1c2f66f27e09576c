import { AppError, invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { readOffer, type StoredOffer } from '../read-offer.ts'
import { requireMoment } from '../require-moment.ts'
import type { OfferedModel, OfferedPrice, OfferedVisibility } from './offered-model.ts'
import { readPricesOf } from './read-models.ts'
import { insertModel, removeModel, updateModel, type ModelDraft } from './write-model.ts'
import { addPrice, returnToFile, withdrawPrice, type NewPrice } from './write-price.ts'

/** What the catalog knows of models. */
export interface ModelRules {
  /** Throws `invalid_value` unless this is an entry of the catalog with a price. */
  check(
    entry: Entry,
    providers?: ReadonlySet<string>,
  ): { readonly aliases: readonly string[]; readonly rates: unknown }
  /** Whether the catalog file has a model with this id or alias. */
  isOfFile(name: string): boolean
  /** The entry of a model of the file, if there is one with this id. */
  fileEntryOf(id: string): Entry | null
}

type Members = Readonly<Record<string, unknown>>
type Entry = Members & { readonly id: string }

interface PriceInput {
  readonly price: Members
  /** Null: at once. */
  readonly effectiveFromMs: number | null
  readonly authorKeyId: string | null
  readonly reason: string | null
}

export interface ModelInput extends Omit<PriceInput, 'effectiveFromMs'> {
  readonly id: string
  /** As in the catalog file, without id and price. */
  readonly entry: Members
  readonly visibility: OfferedVisibility | null
}

/** Members that are absent stay; null removes one. */
export interface ModelPatch extends Omit<PriceInput, 'effectiveFromMs' | 'price'> {
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
  /** Of any model, also one of the file. */
  addPrice(id: string, input: PriceInput, together?: AddedTogether): Promise<ModelChange>
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
  readonly visibility: OfferedVisibility | null
}

interface ModelChangesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly rules: ModelRules
  readonly change: (write: (transaction: Queryable) => Promise<bigint>) => Promise<bigint>
  readonly current: () => readonly OfferedModel[]
}

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:/@+-]{0,198}[A-Za-z0-9])?$/

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

  const planned = (difference: Members, write: ModelChange['write']): ModelChange => ({
    difference,
    write,
    make: () => change(write),
  })
  const prepare = (
    { id, members, price, visibility }: Prepared,
    providers: ReadonlySet<string> | undefined,
  ) => {
    const { aliases, rates } = rules.check({ ...members, id, price }, providers)
    for (const alias of aliases) requireId(alias, 'aliases')
    const other = aliases.find((alias) => rules.isOfFile(alias))
    if (other !== undefined) throw fixedByFile(other)
    if (new Set([id, ...aliases]).size <= aliases.length)
      throw invalidValue('aliases', 'A name is given twice.')
    const draft: ModelDraft = { id, entry: members, visibility, aliases }
    return { draft, rates }
  }

  return {
    find: (id) => options.current().find((model) => model.id === id && model.removedAtMs === null),
    add: async ({ id, entry, visibility, price, authorKeyId, reason }, together) => {
      requireId(id, 'id')
      const { draft, rates } = prepare({ id, members: entry, price, visibility }, together?.providers)
      if (rules.isOfFile(id)) throw fixedByFile(id)
      return planned(differenceOf({}, { ...entry, visibility, price }), (transaction) => {
        const nowMs = floorOf(clock)
        const first = { price, rates, effectiveFromMs: nowMs, authorKeyId, reason }
        return insertModel(transaction, draft, { price: first, nowMs })
      })
    },
    change: async (id, { entry, visibility, price, authorKeyId, reason }, together) => {
      const before = await readStored(id, together)
      const members = mergeMembers(before.entry, entry)
      const prices = await readPriced(id, together)
      const nowMs = floorOf(clock)
      const current = prices.find(({ effectiveFromMs }) => effectiveFromMs <= nowMs) ?? prices.at(-1)
      const seen = visibility === undefined ? before.visibility : visibility
      const prepareWith = (list: Members) =>
        prepare({ id, members, price: list, visibility: seen }, together?.providers)
      const { draft, rates } = prepareWith(price ?? current?.price ?? {})
      // Those of the future have to suit the model, too.
      for (const one of prices) if (one.effectiveFromMs > nowMs) prepareWith(one.price)
      const from = { ...before.entry, visibility: before.visibility, price: current?.price }
      const to = { ...members, visibility: seen, price: price ?? current?.price }
      return planned(differenceOf(from, to), (transaction) => {
        const atMs = floorOf(clock)
        const next: NewPrice | null =
          price === undefined ? null : { price, rates, effectiveFromMs: atMs, authorKeyId, reason }
        return updateModel(transaction, draft, { known: before.version, price: next, nowMs: atMs })
      })
    },
    remove: async (id, together) => {
      const before = await readStored(id, together)
      return planned(differenceOf({ ...before.entry, visibility: before.visibility }, {}), (transaction) =>
        removeModel(transaction, before, floorOf(clock)),
      )
    },
    addPrice: async (id, { price, effectiveFromMs, authorKeyId, reason }, together) => {
      const entry = rules.fileEntryOf(id) ?? {
        ...(together?.models.get(id) ?? (await readStored(id, together)).entry),
        id,
      }
      const { rates } = rules.check({ ...entry, price }, together?.providers)
      requireMoment('effective_from', effectiveFromMs, clock.nowMs())
      const from = effectiveFromMs === null ? null : new Date(effectiveFromMs).toISOString()
      const difference = {
        price: { from: null, to: price },
        effective_from: { from: null, to: from },
        reason,
      }
      return planned(difference, (transaction) => {
        const nowMs = floorOf(clock)
        requireMoment('effective_from', effectiveFromMs, nowMs)
        const row = { price, rates, effectiveFromMs: effectiveFromMs ?? nowMs, authorKeyId, reason }
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
      const price = isRecord(entry['price']) ? entry['price'] : {}
      const { rates } = rules.check(entry, together?.providers)
      return planned({ price: { from: found.price, to: price }, source: 'file' }, (transaction) =>
        returnToFile(transaction, found, { ...author, price, rates, nowMs: floorOf(clock) }),
      )
    },
    isOfFile: (id) => rules.fileEntryOf(id) !== null,
    listPrices: (id) => readPricesOf(database, id),
  }
}

/** Without parts of a millisecond, as it is stored. */
function floorOf(clock: Clock): number {
  return Math.floor(clock.nowMs())
}

function isoOf({ effectiveFromMs }: OfferedPrice): string {
  return new Date(effectiveFromMs).toISOString()
}

function requireId(id: string, param: string): void {
  if (!ID.test(id))
    throw invalidValue(param, 'A name has up to 200 letters, digits and any of . _ : / @ + - between them.')
}

function mergeMembers(before: Members, changes: Members): Members {
  const merged = { ...before, ...changes }
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== null && value !== undefined),
  )
}

function differenceOf(before: Members, after: Members): Members {
  const difference: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [before[name] ?? null, after[name] ?? null]
    if (JSON.stringify(from) !== JSON.stringify(to)) difference[name] = { from, to }
  }
  return difference
}

function fixedByFile(name: string): AppError {
  return new AppError(
    'conflict',
    `The model '${name}' is from the file: the built-in catalog or the catalog file of the gateway. It can only be changed there.`,
  )
}
