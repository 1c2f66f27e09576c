/**
 * A histogram of durations. A bucket ends 19 % above its start (a quarter of an octave), so its middle differs from every
 * duration in it by at most 10 %.
 */
export type DurationCounts = number[]

const BUCKETS_PER_OCTAVE = 4
/** Covers about 70 minutes. Longer durations are counted in the last bucket. */
const BUCKETS = 22 * BUCKETS_PER_OCTAVE

export function countDuration(counts: DurationCounts, durationMs: number): void {
  const bucket = bucketOf(durationMs)
  // The list ends at the slowest request, so that it stays short for fast requests.
  while (counts.length <= bucket) counts.push(0)
  counts[bucket] = (counts[bucket] ?? 0) + 1
}

function bucketOf(durationMs: number): number {
  if (!(durationMs > 1)) return 0
  return Math.min(BUCKETS - 1, Math.floor(Math.log2(durationMs) * BUCKETS_PER_OCTAVE))
}

export function addCounts(counts: DurationCounts, others: readonly number[]): void {
  for (const [bucket, count] of others.entries()) counts[bucket] = (counts[bucket] ?? 0) + count
}

/** Returns a percentile in milliseconds, which is the middle of its bucket, or null for an empty histogram. */
export function percentileOf(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = share * total
  let atOrBelow = 0
  const bucket = counts.findIndex((count) => {
    atOrBelow += count
    return count > 0 && atOrBelow >= rank
  })
  // Two digits, because rounding the first buckets to one digit would add to their error.
  return Math.round(2 ** ((bucket + 0.5) / BUCKETS_PER_OCTAVE) * 100) / 100
}
