/** What a deadline ends. */
export interface Deadline {
  readonly atMs: number
  readonly expire: () => void
  /** Where the deadlines keep it; -1 once it is over. */
  position: number
}

const TICK_MS = 500

/**
 * Many deadlines, far away and nearly all of them cancelled: one tick looks at all, instead of a timer for each. They come
 * up to half a second late.
 */
export class Deadlines {
  readonly #pending: Deadline[] = []
  #ticker: NodeJS.Timeout | null = null

  add(durationMs: number, expire: () => void): Deadline {
    const deadline = { atMs: performance.now() + durationMs, expire, position: this.#pending.length }
    this.#pending.push(deadline)
    // Never the reason for a process to stay: whatever has a deadline keeps it alive.
    this.#ticker ??= setInterval(() => this.#expireDue(), TICK_MS).unref()
    return deadline
  }

  cancel(deadline: Deadline): void {
    if (deadline.position === -1) return
    const last = this.#pending.pop()
    if (last !== undefined && last !== deadline) {
      this.#pending[deadline.position] = last
      last.position = deadline.position
    }
    deadline.position = -1
  }

  #expireDue(): void {
    const nowMs = performance.now()
    for (const deadline of this.#pending.filter(({ atMs }) => atMs <= nowMs)) {
      this.cancel(deadline)
      deadline.expire()
    }
    if (this.#pending.length > 0 || this.#ticker === null) return
    clearInterval(this.#ticker)
    this.#ticker = null
  }
}
