import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'

/**
 * The lanes of one turn. An account that may have fewer requests running than a turn has lanes gets all of them answered, some after
 * the others: a lane waits for a place only while another lane of the same turn has one.
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
        // The last may have left while this one was being refused: then there is room now.
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
