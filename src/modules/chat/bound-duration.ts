export interface BoundedSignal {
  readonly signal: AbortSignal
  /** When the work is over, however it ended. */
  readonly release: () => void
}

/**
 * A signal that aborts with the one given, or by itself after a while: an upstream that sends a comment or a byte now
 * and then is never idle, and would otherwise hold its request for ever.
 */
export function boundDuration(signal: AbortSignal, durationMs: number, expired: () => Error): BoundedSignal {
  const controller = new AbortController()
  const follow = () => controller.abort(signal.reason)
  if (signal.aborted) follow()
  signal.addEventListener('abort', follow)
  const timer = setTimeout(() => controller.abort(expired()), Math.max(durationMs, 0))
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', follow)
    },
  }
}
