import { Cancellation } from '../../kernel/cancellation.ts'

export interface BoundedWork {
  readonly cancellation: Cancellation
  /** When the work is over, however it ended. */
  readonly release: () => void
}

/**
 * Cancelled with the one given, or by itself after a while: an upstream that sends a comment or a byte now and then is
 * never idle, and would otherwise hold its request for ever.
 */
export function boundDuration(parent: Cancellation, durationMs: number, expired: () => Error): BoundedWork {
  const cancellation = new Cancellation()
  const follow = (reason: unknown) => cancellation.cancel(reason)
  parent.onCancel(follow)
  const timer = setTimeout(() => cancellation.cancel(expired()), Math.max(durationMs, 0))
  return {
    cancellation,
    release: () => {
      clearTimeout(timer)
      parent.offCancel(follow)
    },
  }
}
