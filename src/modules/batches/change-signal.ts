/** Lets one caller at a time wait for the next change. */
export class ChangeSignal {
  #changed = Promise.withResolvers<void>()

  /** Changes from now on end the next wait. */
  reset(): void {
    this.#changed = Promise.withResolvers()
  }

  note(): void {
    this.#changed.resolve()
  }

  /** Resolves with a change since `reset`, or when the time is over. */
  async wait(waitMs: number | null = null): Promise<void> {
    const timer = waitMs === null ? undefined : setTimeout(() => this.note(), Math.max(0, waitMs))
    await this.#changed.promise
    clearTimeout(timer)
  }

  async waitUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.reset()
      await this.wait()
    }
  }
}
