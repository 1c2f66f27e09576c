import type { Cancellation } from '../../kernel/cancellation.ts'

/** Source of change notifications, which carry the id of the changed object. */
interface ChangeSource {
  onChanged(handler: (id: string) => void): () => void
  /** Called when changes may have been missed. */
  onMissed(handler: () => void): () => void
}

interface ChangeWait {
  /** Resolves at the next change, when changes may have been missed, at the timeout, and on cancellation. */
  readonly changed: Promise<void>
  end(): void
}

/** The waits of this process for changes of objects. */
export class ChangeWaiters {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #unsubscribe: (() => void)[]

  constructor(source: ChangeSource) {
    this.#unsubscribe = [
      source.onChanged((id) => this.#wake(id)),
      source.onMissed(() => this.close({ isLast: false })),
    ]
  }

  /** Waits for a change of any of these ids. Listens immediately, so a change after a later read is not missed. */
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
