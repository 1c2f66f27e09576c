/** How often the reference is measured. The fastest one counts, because other load only makes it slower. */
const MEASUREMENTS = 5

const TEXT = JSON.stringify(
  Array.from({ length: 4_000 }, (_, index) => ({ [`k${index}`]: { role: 'user', content: 'hello you' } })),
)

/**
 * Measures the processor time of a fixed piece of work of this thread: parsing and writing JSON, about 10 ms on a core of 3 GHz.
 * Times in multiples of it do not depend on the speed of the machine.
 */
export function measureReferenceMs(): number {
  let leastMs = Number.POSITIVE_INFINITY
  for (let measurement = 0; measurement < MEASUREMENTS; measurement += 1) {
    const startedMs = threadMs()
    for (let round = 0; round < ROUNDS; round += 1) JSON.stringify(JSON.parse(TEXT))
    leastMs = Math.min(leastMs, threadMs() - startedMs)
  }
  return leastMs
}

const ROUNDS = 2

/** The processor time of this thread, which other load does not take. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
