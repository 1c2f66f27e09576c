import { setTimeout as delay } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { LiveFeed, LiveOverview } from '../../http/routes/operator/admin-live.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'

interface LiveFeedOptions {
  readonly readOverview: () => Promise<Static<typeof LiveOverview>>
  readonly isShuttingDown: () => boolean
}

const EVENT_MS = 2_000
const STREAMS_MAX = 20

/** Streams of live figures. All streams of a process share one reading. */
export function createLiveFeed({ readOverview, isShuttingDown }: LiveFeedOptions): LiveFeed {
  let streams = 0
  let latest: { readonly atMs: number; readonly text: Promise<Buffer> } | null = null

  const read = (): Promise<Buffer> => {
    const nowMs = performance.now()
    if (latest === null || nowMs - latest.atMs > EVENT_MS / 2) {
      const text = readOverview().then((overview) => Buffer.from(JSON.stringify(overview)))
      latest = { atMs: nowMs, text }
    }
    return latest.text
  }
  async function* follow(cancellation: Cancellation): AsyncGenerator<readonly Buffer[]> {
    try {
      while (!isShuttingDown()) {
        yield [await read()]
        await pause(cancellation)
      }
    } finally {
      streams -= 1
    }
  }

  return {
    open(cancellation) {
      if (streams >= STREAMS_MAX) {
        const message = `At most ${STREAMS_MAX} streams of live figures at once for each process.`
        throw new AppError('concurrency_limit_reached', message, { retryAfterSeconds: 5 })
      }
      streams += 1
      return follow(cancellation)
    },
  }
}

/** Throws the reason of a cancellation. */
async function pause(cancellation: Cancellation): Promise<void> {
  await delay(EVENT_MS, undefined, { signal: cancellation.signal }).catch(() => {})
  cancellation.throwIfCancelled()
}
