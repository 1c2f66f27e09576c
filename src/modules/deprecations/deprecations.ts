import { notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { OpenPage } from '../../kernel/page.ts'
import { endingOf, modelAt, type Catalog, type CatalogModel, type Ending } from '../catalog/catalog.ts'
import type { Reader } from '../keys/keys.ts'
import { DAY_MS, type KeyUse, type KeyUseCursor, type ModelUse, type Usage } from '../usage/usage.ts'

export type { KeyUse, KeyUseCursor, ModelUse } from '../usage/usage.ts'

/** A model that is deprecated, that ends soon, or that ended while it was still used. */
export interface Deprecation extends Ending {
  readonly model: CatalogModel
  /** Null if nobody used it in these days. */
  readonly use: ModelUse | null
}

interface DeprecationQuery {
  /** How many days back use counts. */
  readonly days: number
  /** How many days ahead a model ends that is not deprecated yet. */
  readonly aheadDays: number
}

/** Models that will end, and who still uses them. */
export interface Deprecations {
  /** Those of all accounts, the next one to end first. */
  list(query: DeprecationQuery): Promise<readonly Deprecation[]>
  /** The keys of all accounts that used a model, those with the most requests first. Throws `not_found`. */
  listKeys(
    modelId: string,
    query: { readonly days: number; readonly limit: number; readonly after: KeyUseCursor | null },
  ): Promise<OpenPage<KeyUse>>
  /** Those that the reader's keys used. */
  listUsed(reader: Reader, query: DeprecationQuery): Promise<readonly Deprecation[]>
  /** The same with these keys, of each model those with the most requests. */
  listUsedWithKeys(
    reader: Reader,
    query: DeprecationQuery & { readonly keysMax: number },
  ): Promise<readonly (Deprecation & { readonly keys: readonly KeyUse[] })[]>
}

interface DeprecationsOptions {
  readonly catalog: Pick<Catalog, 'listAll' | 'find'>
  readonly usage: Pick<Usage, 'readModelUse' | 'listKeyUse'>
  readonly clock: Clock
}

export function createDeprecations({ catalog, usage, clock }: DeprecationsOptions): Deprecations {
  const rangeOf = (days: number, nowMs: number) => ({
    fromMs: nowMs - days * DAY_MS,
    // Clocks of processes differ a little, so the hour after this one counts too.
    toMs: nowMs + DAY_MS,
  })
  const listFor = async (
    reader: Reader | null,
    { days, aheadDays }: DeprecationQuery,
  ): Promise<Deprecation[]> => {
    const nowMs = clock.nowMs()
    const ending = catalog.listAll().flatMap((timed) => {
      const model = modelAt(timed, nowMs)
      const found = endingOf(model, { nowMs, untilMs: nowMs + aheadDays * DAY_MS })
      return found === null ? [] : [{ model, ...found }]
    })
    const models = ending.map(({ model }) => model.id)
    const used = await usage.readModelUse({ models, range: rangeOf(days, nowMs), reader })
    return ending
      .map((one) => ({ ...one, use: used.get(one.model.id) ?? null }))
      .filter(({ state, use }) => use !== null || (state !== 'ended' && reader === null))
      .toSorted(bySoonestEnd)
  }
  return {
    list: (query) => listFor(null, query),
    listKeys: async (modelId, { days, limit, after }) => {
      if (catalog.find(modelId) === undefined) throw notFound('model')
      const range = rangeOf(days, clock.nowMs())
      return usage.listKeyUse({ models: [modelId], range, reader: null, limit, after })
    },
    listUsed: listFor,
    listUsedWithKeys: async (reader, { keysMax, ...query }) => {
      const found = await listFor(reader, query)
      const { items } = await usage.listKeyUse({
        models: found.map(({ model }) => model.id),
        range: rangeOf(query.days, clock.nowMs()),
        reader,
        limit: keysMax,
        after: null,
      })
      const keys = Map.groupBy(items, ({ model }) => model)
      return found.map((one) => ({ ...one, keys: keys.get(one.model.id) ?? [] }))
    },
  }
}

/** Those without a known end come last. */
function bySoonestEnd(left: Deprecation, right: Deprecation): number {
  const [leftMs, rightMs] = [left.endMs ?? Infinity, right.endMs ?? Infinity]
  if (leftMs !== rightMs) return leftMs - rightMs
  return left.model.id < right.model.id ? -1 : 1
}
