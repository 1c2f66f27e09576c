import { Compile } from 'typebox/compile'
import { SERVICE_CATEGORIES, type CatalogModel, type ModelRoute } from '../catalog-model.ts'
import { CatalogDocument, CatalogEntry } from '../entry/catalog-schema.ts'
import { findLifeCycleProblems, readLifeCycle } from '../lookup/life-cycle.ts'
import { mergeCatalogEntries, type PlacedEntry } from './merge-catalog-entries.ts'
import { findBoundsProblems, readBounds } from '../entry/read-bounds.ts'
import { readPrice } from '../price/read-price.ts'
import { findAmountProblems, findCostProblems, readRouteCost } from '../price/route-cost.ts'
import { filePriceVersion } from '../price/stored-price.ts'

// Compiled, because interpreting the schema for the default file takes a tenth of a second at every start.
const documentValidator = Compile(CatalogDocument)
const entryValidator = Compile(CatalogEntry)

export interface LoadCatalogOptions {
  /** The default document, parsed but not validated. */
  readonly source: unknown
  /** The operator's document, if there is one. */
  readonly override?: { readonly file: string; readonly document: unknown } | undefined
  /** If given, a route to an unknown provider is reported as a problem. */
  readonly isKnownProvider?: ((providerId: string) => boolean) | undefined
}

/** Converts catalog documents to models. Throws `CatalogInvalid` with every problem and its place. */
export function loadCatalog({ source, override, isKnownProvider }: LoadCatalogOptions): CatalogModel[] {
  const problems: string[] = []
  const entries = placeEntries(source, '', problems)
  const overrides = override ? placeEntries(override.document, `${override.file}: `, problems) : []
  if (problems.length > 0) throw new CatalogInvalid(problems)

  const models: CatalogModel[] = []
  const repriced = new Set(overrides.flatMap(({ entry }) => (entry.price === undefined ? [] : [entry.id])))
  for (const { place, entry } of mergeCatalogEntries(entries, overrides)) {
    const model = readEntry({ place, entry }, problems, isKnownProvider)
    if (model === null) continue
    const priceFile = repriced.has(model.id) ? override?.file : undefined
    models.push(priceFile === undefined ? model : Object.freeze({ ...model, priceFile }))
  }
  problems.push(...findNameCollisions(models))
  if (problems.length > 0) throw new CatalogInvalid(problems)
  return models
}

/** Adds to the problems and returns null if the entry is not one of a model. */
export function readEntry(
  { place, entry }: PlacedEntry,
  problems: string[],
  isKnownProvider?: (providerId: string) => boolean,
): CatalogModel | null {
  const found = findEntryProblems(entry, place, isKnownProvider)
  problems.push(...found)
  return found.length === 0 && entryValidator.Check(entry) ? readModel(entry, place, problems) : null
}

/** A catalog file that cannot be used, with all its problems. */
export class CatalogInvalid extends Error {
  override readonly name = 'CatalogInvalid'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`the model catalog is not usable:\n  ${problems.join('\n  ')}`)
    this.problems = problems
  }
}

function placeEntries(document: unknown, file: string, problems: string[]): PlacedEntry[] {
  const found = findSchemaProblems(documentValidator, document, file)
  problems.push(...found)
  if (found.length > 0 || !documentValidator.Check(document)) return []
  const placed = [
    ...(document.models ?? []).map((entry, index) => ({ place: `${file}models[${index}]`, entry })),
    ...(document.service_models ?? []).map((entry, index) => ({
      place: `${file}service_models[${index}]`,
      entry,
    })),
  ]
  const seen = new Map<string, string>()
  for (const { place, entry } of placed) {
    const first = seen.get(entry.id)
    if (first !== undefined) problems.push(`${place}.id: '${entry.id}' is already defined by ${first}`)
    else seen.set(entry.id, place)
  }
  return placed
}

function findEntryProblems(
  entry: Readonly<Record<string, unknown>>,
  place: string,
  isKnownProvider: LoadCatalogOptions['isKnownProvider'],
): string[] {
  const problems = findSchemaProblems(entryValidator, entry, place)
  if (problems.length > 0 || !entryValidator.Check(entry)) return problems
  const { price, routes } = entry
  if (price.unit === 'token' && UNIT_CATEGORIES.has(entry.category))
    problems.push(
      `${place}.price.unit: a model of the category '${entry.category}' is not priced by the token`,
    )
  problems.push(...findAmountProblems(price, `${place}.price`), ...findCostProblems(entry, place))
  for (const [index, { provider }] of routes.entries()) {
    if (isKnownProvider && !isKnownProvider(provider)) {
      problems.push(`${place}.routes[${index}].provider: there is no provider '${provider}'`)
    }
  }
  for (const field of ['released', 'retires'] as const) {
    const day = entry[field]
    if (day !== undefined && !isDay(day)) problems.push(`${place}.${field}: is not a date`)
  }
  if (entry.retires !== undefined && entry.successor === undefined)
    problems.push(`${place}.retires: needs a 'successor', which answers from that day on`)
  problems.push(...findLifeCycleProblems(entry, place), ...findBoundsProblems(entry, place))
  return problems
}

/** The parser moves 31 February to the next month. */
function isDay(text: string): boolean {
  const epochMs = Date.parse(text)
  return !Number.isNaN(epochMs) && new Date(epochMs).toISOString().startsWith(text)
}

// Their output is not measured in tokens, so a token price cannot be applied.
const UNIT_CATEGORIES: ReadonlySet<string> = new Set(['image', 'video', 'music', 'upscale', 'bg_remove'])

function findSchemaProblems(
  validator: Pick<typeof entryValidator | typeof documentValidator, 'Check' | 'Errors'>,
  value: unknown,
  place: string,
): string[] {
  if (validator.Check(value)) return []
  const byPath = new Map<string, string[]>()
  for (const { instancePath, message, params } of validator.Errors(value)) {
    const path = toPlace(place, instancePath)
    const allowed =
      'allowedValues' in params && Array.isArray(params.allowedValues) ? params.allowedValues : null
    const text = allowed ? `must be one of ${allowed.join(', ')}` : message
    // A union reports each branch and then itself. The branches alone say what is allowed.
    if (text.includes('anyOf')) continue
    byPath.set(path, [...(byPath.get(path) ?? []), text])
  }
  return [...byPath].map(([path, messages]) => `${path}: ${messages.join(' or ')}`)
}

// `/price/unit` under `models[3]` becomes `models[3].price.unit`.
function toPlace(place: string, instancePath: string): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
    .join('')
  if (place === '' || place.endsWith(': ')) return `${place}${path.replace(/^\./, '')}` || 'the document'
  return `${place}${path}`
}

function readModel(entry: CatalogEntry, place: string, problems: string[]): CatalogModel {
  const isService = (SERVICE_CATEGORIES as readonly string[]).includes(entry.category)
  const isTask = entry.category === 'video' || entry.category === 'music'
  const price = readPrice(entry, `${place}.price`, problems)
  const lifeCycle = readLifeCycle(entry)
  return Object.freeze({
    id: entry.id,
    displayName: entry.name,
    vendor: entry.vendor,
    category: entry.category,
    contextTokens: entry.context_tokens ?? null,
    maxOutputTokens: entry.max_output_tokens ?? null,
    dimensions: entry.dimensions ?? null,
    capabilities: new Set(entry.capabilities),
    price,
    priceVersion: filePriceVersion(price),
    isPriceListed: entry.price.unit === 'token' && entry.price.listed !== false,
    routes: readRoutes(entry, place, problems),
    aliases: entry.aliases ?? [],
    delivery: entry.delivery ?? (isTask ? 'async' : 'sync'),
    bounds: readBounds(entry),
    isListed: entry.listed ?? !isService,
    createdAt: new Date(entry.released ?? RELEASED_WHEN_UNKNOWN),
    ...(entry.successor === undefined ? {} : { successor: entry.successor }),
    ...(lifeCycle === null ? {} : { lifeCycle }),
    ...(entry.retires === undefined ? {} : { retiresAt: new Date(entry.retires) }),
  })
}

// The date of the catalog, for entries without a release date.
const RELEASED_WHEN_UNKNOWN = '2026-08-01'

function readRoutes(entry: CatalogEntry, place: string, problems: string[]): ModelRoute[] {
  return entry.routes
    .map((route, position) => {
      const { provider, model, priority, weight, timeouts = {} } = route
      const cost = readRouteCost(route, entry, { place: `${place}.routes[${position}].cost`, problems })
      return {
        provider,
        model,
        priority: priority ?? position,
        weight: weight ?? 1,
        timeouts: {
          ...(timeouts.connect_ms === undefined ? {} : { connectMs: timeouts.connect_ms }),
          ...(timeouts.first_byte_ms === undefined ? {} : { firstByteMs: timeouts.first_byte_ms }),
          ...(timeouts.idle_ms === undefined ? {} : { idleMs: timeouts.idle_ms }),
        },
        ...(cost === null ? {} : { cost }),
      }
    })
    .sort((left, right) => left.priority - right.priority)
}

function findNameCollisions(models: readonly CatalogModel[]): string[] {
  const owners = new Map(models.map(({ id }) => [id, id]))
  const problems: string[] = []
  for (const { id, aliases } of models) {
    for (const alias of aliases) {
      const owner = owners.get(alias)
      if (owner === undefined) owners.set(alias, id)
      else problems.push(`the alias '${alias}' of '${id}' already names '${owner}'`)
    }
  }
  return problems
}
