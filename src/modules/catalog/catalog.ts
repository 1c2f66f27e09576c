import { SERVICE_CATEGORIES, type CatalogModel } from './catalog-model.ts'
import defaultSource from './catalog.json' with { type: 'json' }
import { CatalogInvalid, loadCatalog } from './load-catalog.ts'
import { findByLooseName } from './loose-names.ts'
import type { ModelSource, ModelViewer } from './model-source.ts'
import { watchCatalogFile } from './watch-catalog-file.ts'
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'

export * from './catalog-model.ts'
export { CatalogInvalid } from './load-catalog.ts'
export { toModelCard, ModelCard } from './model-card.ts'
export { highestPrice } from './highest-price.ts'
export { priceTokens, priceUnits, unitRate, type UnitRate } from './price.ts'
export { isDurationAllowed } from './read-bounds.ts'
export type { ModelSource, ModelViewer } from './model-source.ts'

const require = createRequire(import.meta.url)

/** The models that the gateway offers. Lookups are synchronous; a reload replaces all models at once. */
export interface Catalog {
  /** Increases with each reload, so that caches can detect that they are stale. */
  readonly generation: number
  /**
   * Finds a model by its id, an alias, or another form of these. Returns the successor of a model that no configured provider sells
   * any more.
   */
  resolve(modelIdOrAlias: string): CatalogModel | undefined
  /** Whether the catalog lists this id or alias. The number of such names is limited, unlike that of names that resolve. */
  hasName(name: string): boolean
  /** Like `resolve`, and also finds the models that only this viewer's account has. */
  resolveFor(viewer: ModelViewer, modelIdOrAlias: string): CatalogModel | undefined
  /** Like `list`, followed by the models that only this viewer's account has. */
  listFor(viewer: ModelViewer, filter?: CatalogFilter): CatalogModel[]
  /** Adds a source of further models. If an id is also in the file, the file takes precedence. */
  addSource(source: ModelSource): void
  /** Returns the models in the order of the file. Service models are included only if their category is requested. */
  list(filter?: CatalogFilter): CatalogModel[]
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
  const load = (): CatalogSnapshot => {
    const override = overrideFile === null ? undefined : readCatalogFile(overrideFile)
    return createSnapshot(loadCatalog({ source, override, isKnownProvider }))
  }
  let snapshot = load()
  let generation = 1
  const sources: ModelSource[] = []

  const reload = (): void => {
    try {
      snapshot = load()
    } catch (error) {
      const problems = error instanceof CatalogInvalid ? error.problems : [String(error)]
      log.error({ file: overrideFile, problems }, 'the catalog file is broken; the models in use are kept')
      return
    }
    generation += 1
    log.info({ file: overrideFile, models: snapshot.models.length, generation }, 'the catalog was reloaded')
    for (const listener of listeners) listener()
  }
  const watcher =
    overrideFile === null ? null : watchCatalogFile({ file: overrideFile, onChange: reload, pollIntervalMs })

  const isRetired = ({ retiresAt }: CatalogModel) => retiresAt !== undefined && now() >= retiresAt.getTime()
  const succeed = (model: CatalogModel | undefined): CatalogModel | undefined => {
    if (model?.successor === undefined) return model
    const heir = snapshot.heirs.get(model)
    if (isRetired(model)) return heir
    return heir === undefined || model.routes.some(({ provider }) => isConfigured(provider)) ? model : heir
  }
  const findLoosely = (name: string) => succeed(findByLooseName(name, snapshot.byName))

  return {
    get generation() {
      return generation
    },
    resolve: (name) => succeed(snapshot.byName.get(name)) ?? findLoosely(name),
    hasName: (name) => snapshot.byName.has(name),
    list: (filter = {}) => snapshot.models.filter((model) => isSelected(model, filter) && !isRetired(model)),
    resolveFor: (viewer, name) => {
      const shared = succeed(snapshot.byName.get(name))
      if (shared !== undefined) return shared
      for (const one of sources) {
        const own = one.resolve(viewer, name)
        if (own !== undefined) return own
      }
      return findLoosely(name)
    },
    listFor: (viewer, filter = {}) =>
      [...snapshot.models, ...sources.flatMap((one) => one.list(viewer))].filter(
        (model) => isSelected(model, filter) && !isRetired(model),
      ),
    addSource: (one) => void sources.push(one),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    refresh: reload,
    close: () => watcher?.close(),
  }
}

interface CatalogSnapshot {
  readonly models: readonly CatalogModel[]
  readonly byName: ReadonlyMap<string, CatalogModel>
  /** The successors of models that have one. */
  readonly heirs: ReadonlyMap<CatalogModel, CatalogModel>
}

function createSnapshot(models: readonly CatalogModel[]): CatalogSnapshot {
  const byName = new Map<string, CatalogModel>()
  for (const model of models) for (const name of [model.id, ...model.aliases]) byName.set(name, model)
  const heirs = new Map<CatalogModel, CatalogModel>()
  for (const model of models) {
    const heir = model.successor === undefined ? undefined : byName.get(model.successor)
    if (heir !== undefined && canSucceed(heir, model)) heirs.set(model, heir)
  }
  return { models, byName, heirs }
}

/**
 * Whether one model can do all that another can. An operator may have changed or removed the successor, which must not stop the
 * start. A successor with a successor is not followed, so that one step finds the model that answers.
 */
function canSucceed(heir: CatalogModel, { category, capabilities }: CatalogModel): boolean {
  return (
    heir.successor === undefined &&
    heir.category === category &&
    [...capabilities].every((one) => heir.capabilities.has(one))
  )
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

const FILE_BYTES_MAX = 16 * 1024 * 1024

/** Reads an operator's catalog file. JSON is a subset of YAML, so one parser reads both. */
function readCatalogFile(file: string): { file: string; document: unknown } {
  let text: string
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw new Error(`is larger than ${FILE_BYTES_MAX} bytes`)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CatalogInvalid([`${file}: cannot be read: ${describe(error)}`])
  }
  try {
    // Loaded here, because few gateways have such a file.
    const { parse }: typeof Yaml = require('yaml')
    // An empty file overrides nothing.
    return { file, document: parse(text) ?? {} }
  } catch (error) {
    throw new CatalogInvalid([`${file}: is neither JSON nor YAML: ${describe(error)}`])
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
