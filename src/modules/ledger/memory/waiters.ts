/** Promises that resolve at the next change or after their timeout. */
export class Waiters {
  readonly #wakers = new Set<() => void>()

  wait(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#wakers.delete(end)
        resolve()
      }
      const timer = setTimeout(end, timeoutMs)
      this.#wakers.add(end)
    })
  }

  /** Resolves all current waits. */
  wake(): void {
    if (this.#wakers.size === 0) return
    for (const end of this.#wakers) end()
  }
}
