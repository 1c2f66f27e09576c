/**
 * Yields the data of each server-sent event. Lines may end anywhere between two parts of the body. A connection that breaks ends
 * the events: the caller knows from their content whether they are complete.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const part of untilBroken(body)) {
    pending += decoder.decode(part, { stream: true })
    const events = pending.split(/\r?\n\r?\n/)
    pending = events.pop() ?? ''
    for (const event of events) {
      const data = dataOf(event)
      if (data !== null) yield data
    }
  }
}

async function* untilBroken(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    // fetch reports a broken connection in this way.
    if (!(error instanceof TypeError)) throw error
  }
}

function dataOf(event: string): string | null {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
  return lines.length === 0
    ? null
    : lines.map((line) => line.slice('data:'.length).replace(/^ /, '')).join('\n')
}
