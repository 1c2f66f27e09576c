const MINUTE_MS = 60_000

/** Unused units beyond what the process may hold. They wait for the next visit to the bucket. */
export class SpareUnits {
  #units = 0
  #sinceMs = 0

  get units(): number {
    return this.#units
  }

  add(units: number, nowMs: number): void {
    if (units <= 0) return
    if (this.#units === 0) this.#sinceMs = nowMs
    this.#units += units
  }

  /**
   * The units that may be returned now. The bucket kept refilling meanwhile and would have been full earlier with these units,
   * so the amount it can have refilled is subtracted.
   */
  takeOut(perMinute: number, nowMs: number): number {
    const refilled = Math.ceil(((nowMs - this.#sinceMs) * perMinute) / MINUTE_MS)
    const units = Math.max(0, this.#units - Math.max(0, refilled))
    this.#units = 0
    return units
  }
}
