/** Time as an argument, so that what depends on it can be tested without waiting. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }

/** RFC 3339 in UTC, as every timestamp on the wire but OpenAI's `created`. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
