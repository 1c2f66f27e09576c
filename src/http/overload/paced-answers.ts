const TICK_MS = 10

interface PacedAnswersOptions {
  /** So many are given without delay. */
  readonly perSecond: number
  /** None waits longer, while the event loop turns. */
  readonly waitMsMax: number
}

/**
 * Gives answers at a limited rate. A client cannot use a connection before its answer has come, so a flood of refusals slows down
 * instead of taking the time in which others could be served. What waits is bounded by the number of connections.
 */
export class PacedAnswers {
  readonly #perTick: number
  readonly #ticksMax: number
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | null = null
  #left: number
  /** What empties the queue of a flood in time. */
  #floodPerTick = 0
  #lastMs = 0

  constructor({ perSecond, waitMsMax }: PacedAnswersOptions) {
    this.#perTick = Math.max(1, Math.floor((perSecond * TICK_MS) / 1000))
    this.#ticksMax = Math.max(1, Math.floor(waitMsMax / TICK_MS))
    this.#left = this.#perTick
  }

  add(answer: () => void): void {
    if (this.#timer === null) {
      this.#lastMs = performance.now()
      this.#timer = setTimeout(this.#onTick, TICK_MS)
    }
    if (this.#waiting.length === 0 && this.#left > 0) {
      this.#left -= 1
      answer()
    } else this.#waiting.push(answer)
  }

  readonly #onTick = (): void => {
    const nowMs = performance.now()
    // Turns of the event loop may take longer than a tick.
    const ticks = Math.min(this.#ticksMax, Math.max(1, Math.floor((nowMs - this.#lastMs) / TICK_MS)))
    this.#lastMs = nowMs
    this.#floodPerTick =
      this.#waiting.length === 0
        ? 0
        : Math.max(this.#floodPerTick, Math.ceil(this.#waiting.length / this.#ticksMax))
    const perTick = Math.max(this.#perTick, this.#floodPerTick)
    const given = this.#waiting.splice(0, perTick * ticks)
    for (const answer of given) answer()
    this.#left = this.#waiting.length > 0 ? 0 : this.#perTick
    this.#timer =
      given.length === 0 && this.#left === this.#perTick ? null : setTimeout(this.#onTick, TICK_MS)
  }
}
