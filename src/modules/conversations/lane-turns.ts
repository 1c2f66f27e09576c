import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'

/**
 * Admits the lanes of one turn. If the concurrency limit of the account is lower than the number of lanes, some lanes wait for
 * others. A lane waits only while another lane of the same turn is running.
 */
export class LaneTurns {
  #inside = 0
  #left = Promise.withResolvers<void>()

  async enter<Admitted>(
    admit: () => Admitted | Promise<Admitted>,
    cancellation: Cancellation,
  ): Promise<Admitted> {
    for (;;) {
      const left = this.#left
      try {
        const admitted = await admit()
        this.#inside += 1
        return admitted
      } catch (error) {
        const isCrowded = error instanceof AppError && error.code === 'concurrency_limit_reached'
        // The last running lane may have left during the refusal. Then there is room now, so try again.
        const isAlone = this.#inside === 0 && left === this.#left
        if (!isCrowded || isAlone) throw error
      }
      await left.promise
      cancellation.throwIfCancelled()
    }
  }

  leave(): void {
    this.#inside -= 1
    this.#left.resolve()
    this.#left = Promise.withResolvers()
  }
}
