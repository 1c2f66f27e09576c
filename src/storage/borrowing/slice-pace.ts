const SLICES = 8
const SMALLEST_SLICES = 64
const REQUESTS_AT_LEAST = 16
const HORIZON_SECONDS = 10
const SHORTEST_MS = 250

/** Measures how fast units are used, and chooses the slice: enough for some seconds, never most of the bucket. */
export class SlicePace {
  #usedUnits = 0
  #largestUnits = 1
  #unitsPerSecond = 0
  #sinceMs = 0

  /** On the hot path. */
  noteUse(units: number): void {
    this.#usedUnits += units
  }

  /** Makes the slice large enough for a request of this size. */
  noteSize(units: number): void {
    this.#largestUnits = Math.max(units, this.#largestUnits * 0.9)
  }

  chooseSlice(perMinute: number, nowMs: number): number {
    const usedMs = nowMs - this.#sinceMs
    const unitsPerSecond = (this.#usedUnits * 1000) / Math.max(SHORTEST_MS, usedMs)
    const horizon = Math.max(unitsPerSecond, this.#unitsPerSecond) * HORIZON_SECONDS
    if (usedMs >= SHORTEST_MS) {
      this.#unitsPerSecond = unitsPerSecond
      this.#sinceMs = nowMs
      this.#usedUnits = 0
    }
    const least = Math.max(REQUESTS_AT_LEAST * this.#largestUnits, perMinute / SMALLEST_SLICES)
    return Math.floor(Math.min(perMinute / SLICES, Math.max(least, horizon)))
  }
}
