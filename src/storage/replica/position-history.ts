/** A position of the primary's log, with a moment: everything that was visible by then is before it. */
export interface NotedPosition {
  readonly position: bigint
  /** Since the Unix epoch. */
  readonly asOfMs: number
  readonly monotonicMs: number
}

/** About ten minutes of positions. A replica that is further behind is not used anyway. */
const POSITIONS_MAX = 1_024

/** The last positions of the primary's log. */
export class PositionHistory {
  #noted: NotedPosition[] = []
  /** Where the replica was when it was ahead of the primary. */
  #strayedAt: bigint | null = null

  note(noted: NotedPosition): void {
    this.#noted.push(noted)
    if (this.#noted.length > POSITIONS_MAX) this.#noted.shift()
  }

  /** Returns the last position that a replica at this one has passed. */
  find(replayed: bigint): NotedPosition | null {
    return this.#noted.findLast(({ position }) => position <= replayed) ?? null
  }

  /**
   * Whether a standby of this primary can be at this position. One that was ahead has the end of another log, and can only be believed
   * again when it has moved on.
   */
  isPossible(replayed: bigint, written: bigint): boolean {
    if (replayed > written) {
      this.#strayedAt = replayed
      this.#noted = []
      return false
    }
    if (this.#strayedAt !== null && replayed <= this.#strayedAt) return false
    this.#strayedAt = null
    return true
  }
}

/** Parses PostgreSQL's notation, such as `16/B374D848`. */
export function parseLogPosition(text: string): bigint {
  const [high, low, ...rest] = text.split('/')
  if (high === undefined || low === undefined || rest.length > 0)
    throw new Error(`${text} is no position of a log`)
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
