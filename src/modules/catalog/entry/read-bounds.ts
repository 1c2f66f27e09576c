import type { DurationBounds, ModelBounds, PriceMultipliers } from '../catalog-model.ts'
import { PRICE_TRAITS } from '../catalog-model.ts'
import type { CatalogEntry } from './catalog-schema.ts'

/** Reads the allowed parameters of a model. */
export function readBounds({ bounds = {} }: Pick<CatalogEntry, 'bounds'>): ModelBounds {
  return {
    imagesMax: bounds.images_max ?? null,
    sizes: bounds.sizes ?? null,
    sizeDefault: bounds.size_default ?? null,
    qualities: bounds.qualities ?? null,
    qualityDefault: bounds.quality_default ?? null,
    aspectRatios: bounds.aspect_ratios ?? null,
    resolutions: bounds.resolutions ?? null,
    resolutionDefault: bounds.resolution_default ?? null,
    responseFormatDefault: bounds.response_format_default ?? 'url',
    durations: readDurations(bounds),
    dimensions: bounds.dimensions ?? null,
  }
}

/** Returns an empty list if the bounds are consistent. */
export function findBoundsProblems({ bounds = {} }: Pick<CatalogEntry, 'bounds'>, place: string): string[] {
  const { qualities, quality_default: quality, resolutions, resolution_default: resolution } = bounds
  const problems: string[] = []
  if (bounds.size_default !== undefined && bounds.sizes?.includes(bounds.size_default) === false) {
    problems.push(`${place}.bounds.size_default: is not among the sizes`)
  }
  if (quality !== undefined && qualities?.includes(quality) === false) {
    problems.push(`${place}.bounds.quality_default: is not among the qualities`)
  }
  if (resolution !== undefined && resolutions?.includes(resolution) === false) {
    problems.push(`${place}.bounds.resolution_default: is not among the resolutions`)
  }
  return [...problems, ...findDurationProblems(bounds, place)]
}

function findDurationProblems(bounds: NonNullable<CatalogEntry['bounds']>, place: string): string[] {
  const durations = readDurations(bounds)
  if (durations === null) return []
  const { minSeconds, maxSeconds } = durations
  if (minSeconds > maxSeconds) return [`${place}.bounds.duration_seconds: min is above max`]
  const { duration_default_seconds: chosen } = bounds
  if (chosen === undefined || isDurationAllowed(durations, chosen)) return []
  return [`${place}.bounds.duration_default_seconds: is not among the durations`]
}

export function isDurationAllowed(
  { minSeconds, maxSeconds, allowedSeconds }: DurationBounds,
  seconds: number,
): boolean {
  if (allowedSeconds !== null) return allowedSeconds.includes(seconds)
  return seconds >= minSeconds && seconds <= maxSeconds
}

function readDurations(bounds: NonNullable<CatalogEntry['bounds']>): DurationBounds | null {
  const { duration_seconds: durations, duration_default_seconds: chosen } = bounds
  if (durations === undefined) return null
  if (!Array.isArray(durations)) {
    const { min, max } = durations
    return { minSeconds: min, maxSeconds: max, allowedSeconds: null, defaultSeconds: chosen ?? min }
  }
  const minSeconds = Math.min(...durations)
  const maxSeconds = Math.max(...durations)
  return { minSeconds, maxSeconds, allowedSeconds: durations, defaultSeconds: chosen ?? minSeconds }
}

const MILLION = 1_000_000

export function readMultipliers(
  multipliers: NonNullable<CatalogEntry['price']['multipliers']>,
): PriceMultipliers {
  const read: Partial<Record<keyof PriceMultipliers, ReadonlyMap<string, bigint>>> = {}
  for (const trait of PRICE_TRAITS) {
    const values = multipliers[trait]
    if (values === undefined) continue
    // Rounded, because 1.1 times a million is not an exact integer in floating point.
    const entries = Object.entries(values).map(
      ([value, factor]) => [value, BigInt(Math.round(factor * MILLION))] as const,
    )
    read[trait] = new Map(entries)
  }
  return read
}
