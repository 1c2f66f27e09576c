interface Visitor {
  readonly id: string
}

const VISITORS_AT_ONCE_MAX = 500
const ROUND_TRIPS_MAX = 2

/** Collects pending visits and sends many of them in one round trip. */
export class VisitRounds<Kind extends Visitor> {
  readonly #visit: (visitors: readonly Kind[]) => Promise<void>
  readonly #due = new Set<Kind>()
  #isScheduled = false
  #roundTrips = 0
  #onEnd: (() => void)[] = []

  /** `visit` handles its own failures. */
  constructor(visit: (visitors: readonly Kind[]) => Promise<void>) {
    this.#visit = visit
  }

  add(visitor: Kind): void {
    this.#due.add(visitor)
    if (this.#isScheduled || this.#roundTrips >= ROUND_TRIPS_MAX) return
    this.#isScheduled = true
    // Visits of the same tick share one statement.
    queueMicrotask(() => {
      this.#isScheduled = false
      void this.#start()
    })
  }

  has(visitor: Kind): boolean {
    return this.#due.has(visitor)
  }

  /** Resolves at the end of the next round trip. */
  nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd.push(resolve)
    })
  }

  /** Resolves when no visit is pending. */
  async drained(): Promise<void> {
    while (this.#due.size > 0 || this.#roundTrips > 0) await this.nextEnd()
  }

  async #start(): Promise<void> {
    // Always in the same order, to avoid deadlocks between processes.
    const visitors = [...this.#due].slice(0, VISITORS_AT_ONCE_MAX).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    if (visitors.length === 0) return
    for (const visitor of visitors) this.#due.delete(visitor)
    this.#roundTrips += 1
    await this.#visit(visitors)
    this.#roundTrips -= 1
    for (const resolve of this.#onEnd.splice(0)) resolve()
    if (this.#due.size > 0) void this.#start()
  }
}
