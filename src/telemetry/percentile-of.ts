/**
 * Estimates a percentile from a histogram: within the bucket, values count as evenly spread. Returns null without observations.
 * Values above the highest bound count as that bound.
 */
export function percentileOf(
  counts: readonly number[],
  bounds: readonly number[],
  share: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let before = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && before + count >= total * share) {
      const least = bucket === 0 ? 0 : (bounds[bucket - 1] ?? 0)
      const most = bounds[bucket] ?? least
      return least + (most - least) * ((total * share - before) / count)
    }
    before += count
  }
  return bounds.at(-1) ?? null
}
