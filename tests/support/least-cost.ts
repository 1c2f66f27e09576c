/** Returns the shortest of several measurements in milliseconds, because other load can only make a measurement longer. */
export function leastCostMs(work: () => unknown, runs = 5): number {
  let least = Infinity
  for (let run = 0; run < runs; run += 1) {
    const startedMs = performance.now()
    work()
    least = Math.min(least, performance.now() - startedMs)
  }
  return least
}
