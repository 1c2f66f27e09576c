/**
 * Interleaves several generators as their values come, holding at most one value of each. The first error ends all;
 * stopping the iteration stops every source.
 */
export async function* mergeGenerators<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  type Arrival = { source: AsyncGenerator<T>; result: IteratorResult<T> } | { error: unknown }
  const arrivals: Arrival[] = []
  let wake: () => void = () => {}
  let running = sources.length

  function arrive(arrival: Arrival): void {
    arrivals.push(arrival)
    wake()
  }

  function pull(source: AsyncGenerator<T>): void {
    source.next().then(
      (result) => arrive({ source, result }),
      (error: unknown) => arrive({ error }),
    )
  }

  try {
    for (const source of sources) pull(source)
    while (running > 0) {
      const arrival = arrivals.shift()
      if (arrival === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      if ('error' in arrival) throw arrival.error
      if (arrival.result.done === true) {
        running -= 1
        continue
      }
      pull(arrival.source)
      yield arrival.result.value
    }
  } finally {
    // A generator that is waiting for its upstream ends only when that wait ends, so nobody waits for it here.
    for (const source of sources) void source.return(undefined).catch(() => {})
  }
}
