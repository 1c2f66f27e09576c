import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../kernel/clock.ts'
import type { Chunk } from './chunk-stream.ts'
import type { Sleep } from '../sleep.ts'

interface PaceOptions {
  /** Zero means no delay. */
  readonly tokensPerSecond: number
  readonly clock: Clock
  readonly sleep: Sleep
  readonly signal: AbortSignal
}

const BATCH_CHUNKS_MAX = 32

/** Yields chunks in batches, each token when it is due. */
export async function* paceChunks(
  chunks: Iterable<Chunk>,
  options: PaceOptions,
): AsyncGenerator<Buffer[], void> {
  const { tokensPerSecond, clock, sleep, signal } = options
  const startedMs = clock.monotonicMs()
  let sentTokens = 0
  let batch: Buffer[] = []
  for (const { payload, tokenCount } of chunks) {
    const dueMs = tokensPerSecond === 0 ? startedMs : startedMs + (sentTokens * 1000) / tokensPerSecond
    if (batch.length > 0 && (batch.length >= BATCH_CHUNKS_MAX || dueMs > clock.monotonicMs())) {
      yield batch
      batch = []
      // Without this, a reader that is always ready would block all other requests.
      await nextTurn()
      signal.throwIfAborted()
    }
    const waitMs = dueMs - clock.monotonicMs()
    if (waitMs > 0 && tokensPerSecond > 0) await sleep(waitMs, signal)
    signal.throwIfAborted()
    batch.push(payload)
    sentTokens += tokenCount
  }
  if (batch.length > 0) yield batch
}
