const MINUTE_MS = 60_000

/** Units that were taken and not used, beyond what a process may hold. They wait for the next visit at their bucket. */
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
   * What may go back now. In the meantime the bucket may have become full, which it would have been sooner with these: as
   * much as it can have refilled since is gone.
   */
  takeOut(perMinute: number, nowMs: number): number {
    const refilled = Math.ceil(((nowMs - this.#sinceMs) * perMinute) / MINUTE_MS)
    const units = Math.max(0, this.#units - Math.max(0, refilled))
    this.#units = 0
    return units
  }
}
