import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'

/** Reports shortages of this process, such as of open files, in the log and in the readiness check. */
export interface ShortageWatch {
  /** Called when a connection failed because of a local shortage. */
  note(code: string): void
  /** Throws if the last shortage was recent. */
  requireEnough(): Promise<void>
}

interface ShortageWatchOptions {
  readonly clock: Clock
  readonly logger: Logger
}

/** Long enough for a load balancer to notice, and short enough to recover soon afterwards. */
const RECENT_MS = 5_000
const LOG_INTERVAL_MS = 10_000

export function createShortageWatch({ clock, logger }: ShortageWatchOptions): ShortageWatch {
  let last: { code: string; atMs: number } | null = null
  let toldAtMs = -Infinity
  let untold = 0
  return {
    note(code) {
      const nowMs = clock.monotonicMs()
      last = { code, atMs: nowMs }
      untold += 1
      if (nowMs - toldAtMs < LOG_INTERVAL_MS) return
      logger.error({ code, requests: untold }, 'this process is short of resources and cannot connect')
      toldAtMs = nowMs
      untold = 0
    },
    async requireEnough() {
      if (last !== null && clock.monotonicMs() - last.atMs < RECENT_MS)
        throw new Error(`connections could not be made: ${last.code}`)
    },
  }
}
