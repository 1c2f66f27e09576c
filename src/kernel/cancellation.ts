type Listener = (reason: unknown) => void

/**
 * Signals that work is no longer wanted. A cheaper `AbortSignal` for the many requests that are never cancelled; a real signal is
 * created on demand.
 */
export class Cancellation {
  #isCancelled = false
  #reason: unknown
  #listeners: Listener[] = []
  #controller: AbortController | null = null

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  get reason(): unknown {
    return this.#reason
  }

  /** Created on first access, and aborted on cancellation. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#isCancelled) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Cancels with a reason. Later calls have no effect. */
  cancel(reason: unknown): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#reason = reason
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener(reason)
    this.#controller?.abort(reason)
  }

  /** Calls the listener once on cancellation, or immediately if it has already been cancelled. */
  onCancel(listener: Listener): void {
    if (this.#isCancelled) listener(this.#reason)
    else this.#listeners.push(listener)
  }

  offCancel(listener: Listener): void {
    const index = this.#listeners.indexOf(listener)
    if (index !== -1) this.#listeners.splice(index, 1)
  }

  throwIfCancelled(): void {
    if (this.#isCancelled) throw this.#reason
  }
}
