/** The time as a dependency, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the Unix epoch, for shown or stored times. Jumps when the system clock is set. */
  nowMs(): number
  /** Milliseconds since an arbitrary moment, for durations. Never jumps, and has no meaning in other processes. */
  monotonicMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }

/** Formats a time as RFC 3339 in UTC, like all timestamps of the API except OpenAI's `created`. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
