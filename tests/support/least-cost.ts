/** The shortest of several measurements in milliseconds: what else the machine does can only add to one. */
export function leastCostMs(work: () => unknown, runs = 5): number {
  let least = Infinity
  for (let run = 0; run < runs; run += 1) {
    const startedMs = performance.now()
    work()
    least = Math.min(least, performance.now() - startedMs)
  }
  return least
}
