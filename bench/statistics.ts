export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => Number.isFinite(value)).toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Returns the 95 % confidence interval of the median, computed from ranks. */
export function medianRange(values: readonly number[]): readonly [number, number] {
  const sorted = values.filter((value) => Number.isFinite(value)).toSorted((a, b) => a - b)
  const left = Math.max(0, Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2))
  return [sorted[left] ?? Number.NaN, sorted[sorted.length - 1 - left] ?? Number.NaN]
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Theil–Sen estimator: the median of the slopes between all pairs, which is robust against outliers. */
export function medianSlope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const slopes = points.flatMap((from, index) =>
    points.slice(index + 1).map((to) => (to.y - from.y) / (to.x - from.x)),
  )
  return median(slopes)
}
