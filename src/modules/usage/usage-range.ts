/** Half open: what began at `fromMs` is in it, what began at `toMs` is not. Milliseconds since the Unix epoch. */
export interface UsageRange {
  readonly fromMs: number
  readonly toMs: number
  /** The end is now, and nothing has begun after it. */
  readonly isUntilNow?: boolean
}

export interface SplitRange {
  /** The whole hours inside, which rollups answer for. Empty when its ends are equal. */
  readonly hours: UsageRange
  /** What sticks out at either end, each a part of one hour, which the records answer for. */
  readonly edges: readonly UsageRange[]
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Splits a range so that every request in it is counted once, by its hour or by itself. */
export function splitRange({ fromMs, toMs, isUntilNow = false }: UsageRange): SplitRange {
  const firstHourMs = ceilHour(fromMs)
  // The hour that is still running is whole as far as it goes.
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

/** The sixty minutes up to now. */
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

/** Sorts before the id of every request that began at this time or later, and after those of earlier ones. */
export function firstIdAt(epochMs: number): string {
  const hex = Math.max(0, epochMs).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}
