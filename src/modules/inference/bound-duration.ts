import { Cancellation } from '../../kernel/cancellation.ts'
import { Deadlines } from '../../kernel/deadlines.ts'

export interface BoundedWork {
  readonly cancellation: Cancellation
  /** When the work is over, however it ended. */
  readonly release: () => void
}

const deadlines = new Deadlines()

/**
 * Cancelled with the one given, or by itself after a while: an upstream that sends a comment or a byte now and then is
 * never idle, and would otherwise hold its request for ever.
 */
export function boundDuration(parent: Cancellation, durationMs: number, expired: () => Error): BoundedWork {
  const cancellation = new Cancellation()
  const follow = (reason: unknown) => cancellation.cancel(reason)
  parent.onCancel(follow)
  const deadline = deadlines.add(durationMs, () => cancellation.cancel(expired()))
  return {
    cancellation,
    release: () => {
      deadlines.cancel(deadline)
      parent.offCancel(follow)
    },
  }
}
