/** Returns the percentile of sorted values, with linear interpolation. Null for an empty list. */
export function percentile(sorted: ArrayLike<number>, share: number): number | null {
  const last = sorted.length - 1
  const place = Math.min(Math.max(share, 0), 1) * last
  const lower = sorted[Math.floor(place)]
  const upper = sorted[Math.ceil(place)]
  if (lower === undefined || upper === undefined) return null
  return lower + (upper - lower) * (place - Math.floor(place))
}
