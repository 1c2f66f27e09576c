/** Time as an argument, so that what depends on it can be tested without waiting. */
export interface Clock {
  /** Milliseconds since the Unix epoch, for what is shown or stored. It jumps when somebody sets the system's clock. */
  nowMs(): number
  /** Milliseconds since some moment in the past, for durations. It never jumps, and means nothing to another process. */
  monotonicMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }

/** RFC 3339 in UTC, as every timestamp on the wire but OpenAI's `created`. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
