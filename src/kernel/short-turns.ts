import { setImmediate as nextTurn } from 'node:timers/promises'

const TURN_MS = 8

/** Long work on the main thread, in turns short enough that requests between them do not notice. */
export class ShortTurns {
  #startedMs = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#startedMs >= TURN_MS
  }

  async next(): Promise<void> {
    await nextTurn()
    this.#startedMs = performance.now()
  }
}
