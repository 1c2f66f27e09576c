import { setImmediate as nextTurn } from 'node:timers/promises'

const TURN_MS = 8

/** Splits long work on the main thread into short turns, so that requests in between are not delayed. */
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
