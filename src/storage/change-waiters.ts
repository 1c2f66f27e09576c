import type { Cancellation } from '../kernel/cancellation.ts'

/** Where changes are heard of, by the id of what has changed. */
interface ChangeSource {
  onChanged(handler: (id: string) => void): () => void
  /** Called when changes may have been missed. */
  onMissed(handler: () => void): () => void
}

interface ChangeWait {
  /** Resolves at the next change, when changes may have been missed, when the time is over and when nobody waits any more. */
  readonly changed: Promise<void>
  end(): void
}

/** Who waits in this process for what to change. */
export class ChangeWaiters {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #unsubscribe: (() => void)[]

  constructor(source: ChangeSource) {
    this.#unsubscribe = [
      source.onChanged((id) => this.#wake(id)),
      source.onMissed(() => this.close({ isLast: false })),
    ]
  }

  /** For any of these to change. Begins to listen at once: what is read afterwards is no older than what is waited for. */
  wait(
    ids: readonly string[],
    { timeoutMs, cancellation }: { timeoutMs: number; cancellation: Cancellation },
  ): ChangeWait {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const timer = setTimeout(wake, timeoutMs)
    for (const id of ids) this.#waiting.set(id, (this.#waiting.get(id) ?? new Set()).add(wake))
    cancellation.onCancel(wake)
    return {
      changed: promise,
      end: () => {
        clearTimeout(timer)
        cancellation.offCancel(wake)
        for (const id of ids) this.#forget(id, wake)
      },
    }
  }

  close({ isLast }: { isLast: boolean } = { isLast: true }): void {
    if (isLast) for (const stop of this.#unsubscribe) stop()
    for (const id of this.#waiting.keys()) this.#wake(id)
  }

  #wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake()
  }

  #forget(id: string, wake: () => void): void {
    const known = this.#waiting.get(id)
    known?.delete(wake)
    if (known?.size === 0) this.#waiting.delete(id)
  }
}
