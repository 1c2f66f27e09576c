import type { Exchange } from '../exchange.ts'

/**
 * Passes on the batches of a stream that follows stored work, such as a run. When the server closes, the stream fails at once with
 * the reason. The work goes on without its followers, so they need no grace period, and connect again to another process.
 */
export async function* followUntilShutdown(
  batches: AsyncIterable<readonly Buffer[]>,
  exchange: Pick<Exchange, 'cancellation' | 'shutdown' | 'end'>,
): AsyncGenerator<readonly Buffer[], void> {
  const end = (reason: unknown): void => exchange.end(reason)
  exchange.shutdown.onCancel(end)
  try {
    yield* batches
    exchange.cancellation.throwIfCancelled()
  } finally {
    exchange.shutdown.offCancel(end)
  }
}
