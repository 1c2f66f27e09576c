import { setTimeout as delay } from 'node:timers/promises'
import type { RequestFeed } from '../../http/routes/operator/admin-requests-live.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { EndedRequests, LogQuery, RequestLog } from '../../modules/request-log/request-log.ts'

interface RequestFeedOptions {
  readonly requestLog: Pick<RequestLog, 'follow'>
  readonly clock: Clock
  readonly isShuttingDown: () => boolean
}

/** Each reads the log every second. */
const STREAMS_MAX = 10
/** A stream notices a shutdown this soon. */
const STEP_MS = 1_000

/** Streams of requests that end. */
export function createRequestFeed({ requestLog, clock, isShuttingDown }: RequestFeedOptions): RequestFeed {
  let streams = 0
  const pause = async (milliseconds: number, cancellation: Cancellation): Promise<boolean> => {
    for (let leftMs = milliseconds; leftMs > 0 && !isShuttingDown(); leftMs -= STEP_MS) {
      const stepMs = Math.min(leftMs, STEP_MS)
      await delay(stepMs, undefined, { signal: cancellation.signal }).catch(() => {})
      cancellation.throwIfCancelled()
    }
    return !isShuttingDown()
  }
  async function* follow(query: LogQuery, cancellation: Cancellation): AsyncGenerator<EndedRequests> {
    try {
      yield* requestLog.follow(query, {
        nowMs: () => clock.nowMs(),
        pause: (milliseconds) => pause(milliseconds, cancellation),
      })
    } finally {
      streams -= 1
    }
  }

  return {
    open(query, cancellation) {
      if (streams >= STREAMS_MAX) {
        const message = `At most ${STREAMS_MAX} streams of requests at once for each process.`
        throw new AppError('concurrency_limit_reached', message, { retryAfterSeconds: 5 })
      }
      streams += 1
      return follow(query, cancellation)
    },
  }
}
