import type { Clock } from '../../kernel/clock.ts'

export type BreakerState = 'closed' | 'open' | 'half-open'

export interface CircuitBreaker {
  /** Whether a request may be sent now. Answers yes to one probe when the rest is over. */
  admit(): boolean
  succeeded(): void
  /** A stream has begun: the upstream is there, but whether it holds out is not known yet. */
  opened(): void
  failed(): void
  /** The probe ended without telling anything about the upstream. */
  abandoned(): void
  retryAfterMs(): number
}

interface CircuitBreakerOptions {
  readonly clock: Clock
  readonly failuresMax?: number
  readonly restMs?: number
  readonly restMsMax?: number
  readonly onChange?: (state: BreakerState) => void
}

/**
 * Leaves an upstream alone after failures in a row, for a while that doubles with each failed probe, so that requests
 * go to a healthy one at once instead of waiting for a timeout each.
 */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { clock, failuresMax = 5, restMs = 5_000, restMsMax = 60_000, onChange } = options
  let state: BreakerState = 'closed'
  let failures = 0
  let rests = 0
  let opensAgainMs = 0

  const become = (next: BreakerState) => {
    if (next === state) return
    state = next
    onChange?.(next)
  }

  return {
    admit() {
      if (state === 'closed') return true
      if (state === 'half-open' || clock.nowMs() < opensAgainMs) return false
      become('half-open')
      return true
    },
    succeeded() {
      failures = 0
      rests = 0
      become('closed')
    },
    opened() {
      if (state !== 'half-open') return
      failures = failuresMax - 1
      become('closed')
    },
    failed() {
      // Requests that were under way when it opened say nothing new.
      if (state === 'open') return
      failures += 1
      if (state === 'closed' && failures < failuresMax) return
      opensAgainMs = clock.nowMs() + Math.min(restMs * 2 ** rests, restMsMax)
      rests += 1
      become('open')
    },
    abandoned() {
      if (state !== 'half-open') return
      opensAgainMs = clock.nowMs()
      become('open')
    },
    retryAfterMs: () => (state === 'closed' ? 0 : Math.max(opensAgainMs - clock.nowMs(), 1000)),
  }
}
