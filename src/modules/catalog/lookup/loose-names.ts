import catalog from '../catalog.json' with { type: 'json' }
import type { CatalogModel } from '../catalog-model.ts'

/**
 * Finds a model by a form of its name that the catalog does not list: with a vendor in front (`openai/gpt-5.4`), with a date or
 * another suffix of a release behind (`gpt-4o-2024-05-13`), or with dots for dashes (`claude-opus-4.6`). The rest must be a name of
 * the catalog, and the vendor must make or serve that model, so that no other model is found.
 */
export function findByLooseName(name: string, byName: ModelNames): CatalogModel | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined
  const segments = name.split('/')
  if (segments.length > PREFIXES_MAX + 1) return undefined
  const last = segments.pop() ?? ''
  const found = findWithoutSuffix(last, byName) ?? findWithoutSuffix(last.replaceAll('.', '-'), byName)
  return found !== undefined && segments.every((prefix) => isPrefixOf(prefix, found)) ? found : undefined
}

/** The models by each of their names. */
export interface ModelNames {
  get(name: string): CatalogModel | undefined
}

/** As long as the names in a catalog file may be. */
const NAME_LENGTH_MAX = 256
/** Such as `openrouter/anthropic/claude-opus-5`. */
const PREFIXES_MAX = 2
/** Such as `gemini-2.5-flash-preview-09-2025`. */
const SUFFIXES_MAX = 3

function findWithoutSuffix(name: string, byName: ModelNames): CatalogModel | undefined {
  let rest = name
  for (let stripped = 0; stripped <= SUFFIXES_MAX; stripped += 1) {
    const found = byName.get(rest)
    if (found !== undefined) return found
    const suffix = SUFFIXES.find((one) => one.test(rest))
    if (suffix === undefined) return undefined
    rest = rest.replace(suffix, '')
  }
  return undefined
}

const MONTH = '(?:0[1-9]|1[0-2])'
const DAY = '(?:0[1-9]|[12][0-9]|3[01])'
const YEAR = '20[2-9][0-9]'

const SUFFIXES: readonly RegExp[] = [
  // gpt-4o-2024-05-13, claude-opus-4-20250514, claude-sonnet-4-5@20250929
  new RegExp(`-${YEAR}-${MONTH}-${DAY}$`),
  new RegExp(`[-@]${YEAR}${MONTH}${DAY}$`),
  // gemini-2.5-flash-preview-09-2025, gemini-2.5-pro-preview-05-06
  new RegExp(`-${MONTH}-${YEAR}$`),
  new RegExp(`-${MONTH}-${DAY}$`),
  // gpt-4-0613, mistral-large-2512
  new RegExp(`-${MONTH}${DAY}$`),
  new RegExp(`-2[0-9]${MONTH}$`),
  /-(?:latest|preview|exp)$/,
  // gemini-2.0-flash-001
  /-00[1-9]$/,
  // The long context of Claude Code, which is the context of the model.
  /\[1m\]$/,
]

function isPrefixOf(prefix: string, { vendor, routes }: CatalogModel): boolean {
  const named = simplify(prefix)
  const meant = PREFIXES.get(named) ?? named
  if (meant === ANY_VENDOR) return true
  return simplify(vendor) === meant || routes.some(({ provider }) => simplify(provider) === meant)
}

function simplify(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Other names of vendors, simplified, by the simplified name of the vendor in the catalog. */
const PREFIXES: ReadonlyMap<string, string> = new Map(Object.entries(catalog.prefixes))

/** The prefix of a program that puts its own name in front of any model. */
const ANY_VENDOR = '*'
