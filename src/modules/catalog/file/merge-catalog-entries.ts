export interface PlacedEntry {
  /** Such as `models[3]`, with the file name in front for an operator's entry. */
  readonly place: string
  readonly entry: Readonly<Record<string, unknown>> & { readonly id: string }
}

/**
 * Merges an operator's entries over the default ones, by id. A field replaces the default's field, with these exceptions: a price
 * without a unit, or with the same unit, changes only the given amounts; `extra_routes` are appended to the existing routes;
 * `disabled: true` removes the model. A name that the operator uses is removed from the aliases of other default models; if it is the
 * id of an unlisted one, that model is removed.
 */
export function mergeCatalogEntries(
  defaults: readonly PlacedEntry[],
  overrides: readonly PlacedEntry[],
): PlacedEntry[] {
  const overrideById = new Map(overrides.map((placed) => [placed.entry.id, placed]))
  const claimedNames = new Set(overrides.flatMap(({ entry }) => [entry.id, ...readNames(entry.aliases)]))
  const defaultIds = new Set(defaults.map(({ entry }) => entry.id))
  const isReplaced = ({ entry }: PlacedEntry) =>
    entry.listed === false && claimedNames.has(entry.id) && !overrideById.has(entry.id)
  const kept = defaults.filter((placed) => !isReplaced(placed))
  const merged = kept.map((placed) => {
    const released = releaseAliases(placed, claimedNames)
    const override = overrideById.get(placed.entry.id)
    return override ? mergeEntry(released, override) : released
  })
  const added = overrides
    .filter(({ entry }) => !defaultIds.has(entry.id))
    .map((placed) => mergeEntry({ place: placed.place, entry: { id: placed.entry.id } }, placed))
  return [...merged, ...added].filter(({ entry }) => entry.disabled !== true)
}

function mergeEntry({ entry }: PlacedEntry, { place, entry: override }: PlacedEntry): PlacedEntry {
  const { extra_routes: extraRoutes, ...fields } = override
  const merged: Record<string, unknown> & { id: string } = { ...entry, ...fields }
  if (override.price !== undefined) merged.price = mergePrice(entry.price, override.price)
  if (extraRoutes !== undefined) {
    // A value that is not a list is kept, so that the validation of the merged entry reports it.
    merged.routes =
      Array.isArray(merged.routes) && Array.isArray(extraRoutes)
        ? [...merged.routes, ...extraRoutes]
        : extraRoutes
  }
  return { place, entry: merged }
}

function mergePrice(price: unknown, override: unknown): unknown {
  if (!isRecord(price) || !isRecord(override)) return override
  const isSameUnit = override.unit === undefined || override.unit === price.unit
  return isSameUnit ? { ...price, ...override } : override
}

function releaseAliases({ place, entry }: PlacedEntry, claimedNames: ReadonlySet<string>): PlacedEntry {
  const aliases = readNames(entry.aliases)
  if (!aliases.some((alias) => claimedNames.has(alias))) return { place, entry }
  return { place, entry: { ...entry, aliases: aliases.filter((alias) => !claimedNames.has(alias)) } }
}

function readNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
