const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** Draws amounts as bars of one line. Only zero has the lowest bar. Longer series are added up to the width. */
export function sparkline(values: readonly number[], width = 30): string {
  const bars = values.length <= width ? values : addUp(values, width)
  const highest = Math.max(...bars, 0)
  return bars
    .map((value) => {
      if (value <= 0 || highest === 0) return LEVELS[0]
      return LEVELS[Math.max(1, Math.round((value / highest) * (LEVELS.length - 1)))]
    })
    .join('')
}

function addUp(values: readonly number[], width: number): number[] {
  const sums = Array.from({ length: width }, () => 0)
  for (const [index, value] of values.entries()) {
    const at = Math.floor((index * width) / values.length)
    sums[at] = (sums[at] ?? 0) + value
  }
  return sums
}
