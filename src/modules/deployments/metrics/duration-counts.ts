/** How many of some durations fell into each bucket. Buckets grow by a quarter of an octave, so that a percentile is right within 10 %. */
export type DurationCounts = number[]

const BUCKETS_PER_OCTAVE = 4
/** Up to about 70 minutes. Whatever takes longer is in the last one. */
const BUCKETS = 22 * BUCKETS_PER_OCTAVE

export function countDuration(counts: DurationCounts, durationMs: number): void {
  const bucket = bucketOf(durationMs)
  // Lists are as long as the slowest request needs, and stay short where requests are quick.
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

/** In milliseconds; null without any duration. Within its bucket a percentile is found by proportion. */
export function percentileOf(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = share * total
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const position = bucket + (rank - below) / count
      return Math.round(2 ** (position / BUCKETS_PER_OCTAVE) * 10) / 10
    }
    below += count
  }
  return null
}
