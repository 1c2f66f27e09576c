/** A half-open range: includes `fromMs` and excludes `toMs`. Milliseconds since the Unix epoch. */
export interface UsageRange {
  readonly fromMs: number
  readonly toMs: number
  /** The end is the current time, so there are no requests after it. */
  readonly isUntilNow?: boolean
}

export interface SplitRange {
  /** The whole hours in the range, read from the rollups. Empty if both ends are equal. */
  readonly hours: UsageRange
  /** The partial hours at both ends, read from the records. */
  readonly edges: readonly UsageRange[]
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Splits a range so that every request in it is counted once, in a rollup or as a record. */
export function splitRange({ fromMs, toMs, isUntilNow = false }: UsageRange): SplitRange {
  const firstHourMs = ceilHour(fromMs)
  // The current hour counts as whole, because there is nothing after now.
  const lastHourMs = isUntilNow ? ceilHour(toMs) : floorHour(toMs)
  if (firstHourMs > lastHourMs) {
    return { hours: { fromMs: firstHourMs, toMs: firstHourMs }, edges: [{ fromMs, toMs }] }
  }
  const edges = [
    { fromMs, toMs: firstHourMs },
    { fromMs: lastHourMs, toMs },
  ]
  return {
    hours: { fromMs: firstHourMs, toMs: lastHourMs },
    edges: edges.filter((edge) => edge.fromMs < edge.toMs),
  }
}

/** Returns the sixty minutes up to now. */
export function lastHourAt(nowMs: number): UsageRange {
  return { fromMs: nowMs - HOUR_MS, toMs: nowMs, isUntilNow: true }
}

export function floorHour(epochMs: number): number {
  return Math.floor(epochMs / HOUR_MS) * HOUR_MS
}

function ceilHour(epochMs: number): number {
  return Math.ceil(epochMs / HOUR_MS) * HOUR_MS
}

export function floorDay(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS) * DAY_MS
}
