/** A pending deadline. */
export interface Deadline {
  readonly atMs: number
  readonly expire: () => void
  /** Index in the list of pending deadlines, or -1 after it has expired or was cancelled. */
  position: number
}

const TICK_MS = 500

/**
 * Manages many deadlines of which nearly all are cancelled. One interval checks all of them instead of a timer each, so they
 * expire up to half a second late.
 */
export class Deadlines {
  readonly #pending: Deadline[] = []
  #ticker: NodeJS.Timeout | null = null

  add(durationMs: number, expire: () => void): Deadline {
    const deadline = { atMs: performance.now() + durationMs, expire, position: this.#pending.length }
    this.#pending.push(deadline)
    // Does not keep the process alive; the work with the deadline does.
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
