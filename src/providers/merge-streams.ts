/**
 * Yields from several streams as each has something, and closes them all when one fails or nobody reads on. One that
 * waits for its next item cannot be closed from outside, so `cancel` must make it stop waiting.
 */
export async function* mergeStreams<Item>(
  streams: readonly AsyncGenerator<Item, void>[],
  cancel: () => void,
): AsyncGenerator<Item, void> {
  const pending = new Map(streams.map((stream) => [stream, step(stream)]))
  try {
    while (pending.size > 0) {
      const { stream, result } = await Promise.race(pending.values())
      if (result.done === true) {
        pending.delete(stream)
        continue
      }
      pending.set(stream, step(stream))
      yield result.value
    }
  } finally {
    for (const settled of pending.values()) settled.catch(() => {})
    if (pending.size > 0) cancel()
    await Promise.allSettled(streams.map((stream) => stream.return()))
  }
}

async function step<Item>(stream: AsyncGenerator<Item, void>) {
  return { stream, result: await stream.next() }
}
