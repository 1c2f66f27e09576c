type Arrival<Item> =
  | { readonly stream: AsyncGenerator<Item, void>; readonly result: IteratorResult<Item, void> }
  | { readonly error: unknown }

/**
 * Yields items of several streams as they arrive and buffers at most one item of each. Closes all streams when one fails or the
 * caller stops reading. A stream that waits for its next item cannot be closed from outside, so `cancel` must end that wait.
 */
export async function* mergeStreams<Item>(
  streams: readonly AsyncGenerator<Item, void>[],
  cancel: () => void,
): AsyncGenerator<Item, void> {
  const arrivals: Arrival<Item>[] = []
  let wake: () => void = () => {}
  let running = streams.length
  const arrive = (arrival: Arrival<Item>): void => {
    arrivals.push(arrival)
    wake()
  }
  const pull = (stream: AsyncGenerator<Item, void>): void => {
    stream.next().then(
      (result) => arrive({ stream, result }),
      (error: unknown) => arrive({ error }),
    )
  }
  try {
    for (const stream of streams) pull(stream)
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
      pull(arrival.stream)
      yield arrival.result.value
    }
  } finally {
    if (running > 0) cancel()
    await Promise.allSettled(streams.map((stream) => stream.return()))
  }
}
