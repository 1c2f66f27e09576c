import type { Cancellation } from '../../kernel/cancellation.ts'
import type { TaskChanges } from './task-changes.ts'

export interface TaskWait {
  /** Resolves at the next change, when changes may have been missed, when the time is over and when nobody waits any more. */
  readonly changed: Promise<void>
  end(): void
}

/** Who waits for which task in this process. */
export class TaskWaiters {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #unsubscribe: (() => void)[]

  constructor(changes: TaskChanges) {
    this.#unsubscribe = [
      changes.onChanged((taskId) => this.#wake(taskId)),
      changes.onMissed(() => this.close({ isLast: false })),
    ]
  }

  /** Begins to listen at once: what is read afterwards is no older than what is waited for. */
  wait(
    taskId: string,
    { timeoutMs, cancellation }: { timeoutMs: number; cancellation: Cancellation },
  ): TaskWait {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const timer = setTimeout(wake, timeoutMs)
    const known = this.#waiting.get(taskId) ?? new Set()
    this.#waiting.set(taskId, known.add(wake))
    cancellation.onCancel(wake)
    return {
      changed: promise,
      end: () => {
        clearTimeout(timer)
        cancellation.offCancel(wake)
        known.delete(wake)
        if (known.size === 0 && this.#waiting.get(taskId) === known) this.#waiting.delete(taskId)
      },
    }
  }

  close({ isLast }: { isLast: boolean } = { isLast: true }): void {
    if (isLast) for (const stop of this.#unsubscribe) stop()
    for (const taskId of this.#waiting.keys()) this.#wake(taskId)
  }

  #wake(taskId: string): void {
    for (const wake of this.#waiting.get(taskId) ?? []) wake()
  }
}
