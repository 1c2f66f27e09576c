import type { GivenCost } from '../offer/offer.ts'
import { createPriceAdjustments, NOT_ADJUSTED } from './adjustments/price-adjustments.ts'
import { SERVICE_CATEGORIES, type CatalogModel } from './catalog-model.ts'
import defaultSource from './catalog.json' with { type: 'json' }
import { hasEnded, isBeforeShutdown, isGone, isThere } from './lookup/life-cycle.ts'
import { createSnapshot, isVisibleTo, namesAt, type CatalogSnapshot } from './lookup/catalog-snapshot.ts'
import { checkEntry, type CheckedEntry } from './entry/check-entry.ts'
import { CatalogInvalid, loadCatalog } from './file/load-catalog.ts'
import { findByLooseName } from './lookup/loose-names.ts'
import type { ModelSource, ModelViewer } from './lookup/model-source.ts'
import { mergeOffered, NOTHING_OFFERED, type CatalogOffer, type ReadModels } from './offered-catalog.ts'
import { readCatalogFile } from './file/read-catalog-file.ts'
import { listPricesToKeep } from './price/list-prices-to-keep.ts'
import type { StoredPrice } from './price/stored-price.ts'
import { modelAt, type TimedModel } from './lookup/timed-model.ts'
import { watchCatalogFile } from './file/watch-catalog-file.ts'

export * from './catalog-model.ts'
export { CatalogInvalid } from './file/load-catalog.ts'
export { toModelCard, ModelCard } from './model-card/model-card.ts'
export { highestPrice } from './price/highest-price.ts'
export { priceTokens, priceUnits, unitRate, type UnitRate } from './price/price.ts'
export { isDurationAllowed } from './entry/read-bounds.ts'
export type { ModelSource, ModelViewer } from './lookup/model-source.ts'
export {
  COUNTED_NOTHING,
  countInput,
  countCharged,
  countUnits,
  packTraits,
  priceCounted,
  type Counted,
  type PriceTraits,
} from './price/counted.ts'
export { fromStoredPrice, toStoredPrice } from './price/stored-price.ts'
export * from './price/batch-price.ts'
export { costOfRoute } from './price/route-cost.ts'
export { adjustPrice, concernsUnit } from './adjustments/adjust-price.ts'
export { fromStoredTerms, GIVEN_TERMS, type PriceTerms } from './adjustments/price-terms.ts'
export { checkTerms } from './adjustments/check-terms.ts'
export { CostList, MODEL_MEMBERS, PriceList } from './entry/catalog-schema.ts'
export { describeEntry } from './entry/describe-entry.ts'
export { deprecationOf, endingOf, type Ending } from './lookup/life-cycle.ts'
export { modelAt, type TimedModel } from './lookup/timed-model.ts'

/** The models that the gateway offers. Lookups are synchronous; a reload replaces all models at once. */
export interface Catalog {
  /** Increases with each reload, so that caches can detect that they are stale. */
  readonly generation: number
  /**
   * Finds a model by its id, an alias, or another form of these. Returns the successor of a model that no configured provider sells
   * any more. Finds models that not everybody sees, too.
   */
  resolve(modelIdOrAlias: string): CatalogModel | undefined
  /** The same for work that has begun, also on a model that operators removed since. */
  resolveForWork(modelId: string): CatalogModel | undefined
  /** Whether the catalog lists this id or alias. The number of such names is limited, unlike that of names that resolve. */
  hasName(name: string): boolean
  /**
   * Like `resolve`, without the models that this viewer does not see, and with those that only its account has. The model has the
   * price that this viewer pays at this moment; now by default.
   */
  resolveFor(viewer: ModelViewer, modelIdOrAlias: string, atMs?: number): CatalogModel | undefined
  /** The model to use instead of one of this name that has ended. */
  successorOf(viewer: ModelViewer, name: string, atMs?: number): string | undefined
  /** Like `list`, with the models that only this viewer sees, followed by those that only its account has. With the prices that it pays. */
  listFor(viewer: ModelViewer, filter?: CatalogFilter): CatalogModel[]
  /** Adds a source of further models. If an id is also in the file, the file takes precedence. */
  addSource(source: ModelSource): void
  /** Returns the models in the order of the file. Service models are included only if their category is requested. */
  list(filter?: CatalogFilter): CatalogModel[]
  /** For operators: every model with its price lists, in the order of the file. */
  listAll(): readonly TimedModel[]
  /** For operators: the model of this id, also if it has ended. */
  find(id: string): TimedModel | undefined
  /** Whether the file has a model with this id or alias. */
  isOfFile(name: string): boolean
  /** Checks a model or a price list that an operator gives. Throws `invalid_value`. */
  checkEntry(
    entry: Readonly<Record<string, unknown>> & { readonly id: string },
    costs?: readonly GivenCost[],
  ): CheckedEntry
  /** Uses these models and prices from now on, together with those of the file. */
  useOffer(offer: CatalogOffer): void
  /** The price lists of the file and the costs of routes by their version, for bills. */
  listFilePrices(): ReadonlyMap<string, StoredPrice>
  /** Calls the listener after each reload. Returns a function that removes it. */
  onChange(listener: () => void): () => void
  /** Reads everything again. A broken file keeps the models in use. */
  refresh(): void
  close(): void
}

interface CatalogFilter {
  readonly category?: string | undefined
  readonly capability?: string | undefined
  readonly vendor?: string | undefined
  /** Includes models that are kept only for clients that still use their names. */
  readonly includeUnlisted?: boolean | undefined
  /** Includes service models of every category. */
  readonly includeServices?: boolean | undefined
  /** Includes models that not everybody sees. Only for operators. */
  readonly includeRestricted?: boolean | undefined
}

/** The part of a logger that the catalog uses. */
interface CatalogLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface CreateCatalogOptions {
  /** A parsed catalog document. The default is the one that ships with the gateway. */
  readonly source?: unknown
  /** The operator's JSON or YAML file. It is merged over the source and reloaded when it changes. */
  readonly overrideFile?: string | null
  readonly isKnownProvider?: (providerId: string) => boolean
  /** Whether the gateway can call this provider. Without it, models that have a successor count as not sold. */
  readonly isConfigured?: (providerId: string) => boolean
  /** The time in milliseconds, by which models retire. */
  readonly now?: () => number
  readonly log?: CatalogLog
  /** How often the file is checked for changes if the system sends no events. */
  readonly pollIntervalMs?: number
}

/**
 * Throws `CatalogInvalid` if a file cannot be used at start. Later, a broken file is logged and the current models stay in use.
 */
export function createCatalog(options: CreateCatalogOptions = {}): Catalog {
  const {
    source = defaultSource,
    overrideFile = null,
    isKnownProvider,
    isConfigured = () => false,
    now = Date.now,
    log = silentLog,
    pollIntervalMs,
  } = options
  const listeners = new Set<() => void>()
  const load = (): CatalogModel[] => {
    const override = overrideFile === null ? undefined : readCatalogFile(overrideFile)
    return loadCatalog({ source, override, isKnownProvider })
  }
  let ofFile = load()
  let offer = NOTHING_OFFERED
  const known: ReadModels = new Map()
  const merge = (): CatalogSnapshot => {
    const { models, former, problems } = mergeOffered(ofFile, offer, known)
    if (problems.length > 0) log.error({ problems }, 'some models that operators added are not served')
    return createSnapshot(models, former)
  }
  let snapshot = merge()
  let adjustments = NOT_ADJUSTED
  let generation = 1
  const sources: ModelSource[] = []

  const replace = (): void => {
    snapshot = merge()
    generation += 1
    for (const listener of listeners) listener()
  }
  const reload = (): void => {
    try {
      ofFile = load()
    } catch (error) {
      const problems = error instanceof CatalogInvalid ? error.problems : [String(error)]
      log.error({ file: overrideFile, problems }, 'the catalog file is broken; the models in use are kept')
      return
    }
    replace()
    const models = snapshot.models.length
    log.info({ file: overrideFile, models, generation }, 'the catalog was reloaded')
  }
  const watcher =
    overrideFile === null ? null : watchCatalogFile({ file: overrideFile, onChange: reload, pollIntervalMs })

  const succeed = (model: CatalogModel | undefined, look: Look): CatalogModel | undefined => {
    if (model === undefined || isGone(model, look.atMs)) return undefined
    if (model.successor === undefined || isBeforeShutdown(model, look.atMs)) return model
    const timed = snapshot.heirs.get(model.id)
    const isSeen = timed !== undefined && (look.viewer === null || isVisibleTo(timed.first, look.viewer))
    const heir = isSeen ? modelAt(timed, look.atMs) : undefined
    if (hasEnded(model, look.atMs)) return heir
    return heir === undefined || model.routes.some(({ provider }) => isConfigured(provider)) ? model : heir
  }
  const findExactly = (name: string, look: Look): CatalogModel | undefined => {
    const timed = snapshot.byName.get(name)
    if (timed === undefined || !(look.viewer === null || isVisibleTo(timed.first, look.viewer)))
      return undefined
    return succeed(modelAt(timed, look.atMs), look)
  }
  const findLoosely = (name: string, look: Look) =>
    succeed(findByLooseName(name, namesAt(snapshot, look)), look)
  const selectFrom = (filter: CatalogFilter, sees: (model: CatalogModel) => boolean): CatalogModel[] => {
    const atMs = now()
    return snapshot.models
      .filter(({ first }) => isSelected(first, filter) && isThere(first, atMs) && sees(first))
      .map((timed) => modelAt(timed, atMs))
  }

  const adjustAll = (models: readonly CatalogModel[], viewer: ModelViewer): CatalogModel[] => {
    const atMs = now()
    return models.map((model) => adjustments.adjust(model, viewer, atMs))
  }
  const resolveFor: Catalog['resolveFor'] = (viewer, name, atMs = now()) => {
    const look = { viewer, atMs }
    const shared = findExactly(name, look)
    if (shared !== undefined) return adjustments.adjust(shared, viewer, atMs)
    for (const one of sources) {
      const own = one.resolve(viewer, name)
      if (own !== undefined) return own
    }
    const similar = findLoosely(name, look)
    return similar && adjustments.adjust(similar, viewer, atMs)
  }

  return {
    get generation() {
      return generation
    },
    resolve: (name) => {
      const look = { viewer: null, atMs: now() }
      return findExactly(name, look) ?? findLoosely(name, look)
    },
    hasName: (name) => snapshot.byName.has(name),
    list: (filter = {}) =>
      selectFrom(filter, ({ visibility }) => visibility === undefined || filter.includeRestricted === true),
    resolveFor,
    listFor: (viewer, filter = {}) => [
      ...adjustAll(
        selectFrom(filter, (model) => isVisibleTo(model, viewer)),
        viewer,
      ),
      ...sources
        .flatMap((one) => one.list(viewer))
        .filter((model) => isSelected(model, filter) && isThere(model, now())),
    ],
    successorOf: (viewer, name, atMs = now()) => {
      const model = snapshot.byName.get(name)?.first
      if (model?.successor === undefined || !isVisibleTo(model, viewer) || !hasEnded(model, atMs))
        return undefined
      return resolveFor(viewer, model.successor, atMs) === undefined ? undefined : model.successor
    },
    listAll: () => snapshot.models,
    find: (id) => {
      const timed = snapshot.byName.get(id)
      return timed?.first.id === id ? timed : undefined
    },
    resolveForWork: (id) => {
      const look = { viewer: null, atMs: now() }
      return findExactly(id, look) ?? snapshot.former.get(id) ?? findLoosely(id, look)
    },
    isOfFile: (name) => {
      const timed = snapshot.byName.get(name)
      return timed !== undefined && timed.first.isOffered !== true
    },
    checkEntry,
    useOffer: (next) => {
      offer = next
      adjustments = createPriceAdjustments(next.adjustments)
      if (adjustments.problems.length > 0)
        log.error({ problems: adjustments.problems }, 'some price adjustments are not applied')
      replace()
    },
    listFilePrices: () => listPricesToKeep(ofFile, snapshot.models),
    addSource: (one) => void sources.push(one),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    refresh: reload,
    close: () => watcher?.close(),
  }
}

/** Who looks for a model, and when. Nobody in particular is null. */
interface Look {
  readonly viewer: ModelViewer | null
  readonly atMs: number
}

function isSelected(model: CatalogModel, filter: CatalogFilter): boolean {
  const { category, capability, vendor, includeUnlisted = false, includeServices = false } = filter
  const isCategoryAsked = category !== undefined && category.toLowerCase() === model.category
  if (category !== undefined && !isCategoryAsked) return false
  const isService = serviceCategories.has(model.category)
  if (!model.isListed && !(isService ? isCategoryAsked || includeServices : includeUnlisted)) return false
  if (vendor !== undefined && vendor.toLowerCase() !== model.vendor.toLowerCase()) return false
  return capability === undefined || (model.capabilities as ReadonlySet<string>).has(capability.toLowerCase())
}

const serviceCategories: ReadonlySet<string> = new Set(SERVICE_CATEGORIES)

const silentLog: CatalogLog = { info: () => {}, error: () => {} }
