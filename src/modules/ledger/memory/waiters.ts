/** Those who wait until something changes, each for so long at most. */
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

  /** Everybody who waits now. */
  wake(): void {
    if (this.#wakers.size === 0) return
    for (const end of this.#wakers) end()
  }
}
