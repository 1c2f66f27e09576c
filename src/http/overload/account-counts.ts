const WINDOW_MS = 1_000
/** Accounts beyond these are not counted in this second, and so not limited. */
const ACCOUNTS_MAX = 100_000

/** Counts events of accounts over about the last second, at the cost of one lookup for each. */
export class AccountCounts {
  #current = new Map<string, number>()
  #previous = new Map<string, number>()
  #startedMs = 0

  add(accountId: string): void {
    const count = this.#current.get(accountId)
    if (count === undefined && this.#current.size >= ACCOUNTS_MAX) return
    this.#current.set(accountId, (count ?? 0) + 1)
  }

  /** Events of the present window. */
  recentOf(accountId: string): number {
    return this.#current.get(accountId) ?? 0
  }

  /** Begins a new window if it is time. */
  moveOn(nowMs: number): void {
    if (nowMs - this.#startedMs >= 2 * WINDOW_MS) this.#current.clear()
    if (nowMs - this.#startedMs >= WINDOW_MS) {
      this.#previous = this.#current
      this.#current = new Map()
      this.#startedMs = nowMs
    }
  }

  /** Adds to `sums` what is left of the window before the present one. */
  addEarlier(sums: Map<string, number>, nowMs: number): void {
    this.moveOn(nowMs)
    const share = 1 - (nowMs - this.#startedMs) / WINDOW_MS
    for (const [accountId, count] of this.#previous)
      sums.set(accountId, (sums.get(accountId) ?? 0) + count * share)
  }

  get accounts(): IterableIterator<string> {
    return this.#current.keys()
  }
}
