const LINES_MAX = 10_000
const BYTES_MAX = 32 * 1024 * 1024
/** Of one batch, so that others get a part of the room, and so that an account's credit is held a slice of lines at a time. */
const LINES_OF_BATCH_MAX = 5_000
const BYTES_OF_BATCH_MAX = 16 * 1024 * 1024
/** A batch always gets this many lines, also when others have filled the room: so it never waits for the vendors of other batches. */
const LINES_OF_BATCH_MIN = 200
const BYTES_OF_BATCH_MIN = 1024 * 1024

/** How many lines of one process wait for answers of vendors. They are in memory, and their worst case is held. */
export class HandedRoom {
  readonly #all: HandedRoom | null
  /** Of all: the batch that takes over the lines of its last worker. */
  #taker: HandedRoom | null = null
  lines = 0
  bytes = 0

  /** @param all the room of the process. Null: this is it. */
  constructor(all: HandedRoom | null = null) {
    this.#all = all
  }

  get isFull(): boolean {
    if (this.#all === null) return this.#has(LINES_MAX, BYTES_MAX)
    if (this.#all.#taker === this) return false
    if (this.#has(LINES_OF_BATCH_MAX, BYTES_OF_BATCH_MAX)) return true
    return this.#all.isFull && this.#has(LINES_OF_BATCH_MIN, BYTES_OF_BATCH_MIN)
  }

  /** Whether a line fits that was begun while there was room. Its body may have become much longer since. */
  fits(bytes: number): boolean {
    return this.bytes + bytes <= 2 * BYTES_OF_BATCH_MAX
  }

  take(bytes: number): void {
    this.lines += 1
    this.bytes += bytes
    this.#all?.take(bytes)
  }

  give(bytes: number): void {
    this.lines -= 1
    this.bytes -= bytes
    this.#all?.give(bytes)
  }

  /**
   * Whether the lines that the last worker of a batch handed over may take room, all of them: several batches that had a part of theirs
   * would wait for each other. One batch at a time, and while there is room.
   */
  beginTakeOver(): boolean {
    const all = this.#all
    if (all === null || all.#taker !== null || all.isFull) return false
    all.#taker = this
    return true
  }

  get isTakingOver(): boolean {
    return this.#all !== null && this.#all.#taker === this
  }

  endTakeOver(): void {
    if (this.#all !== null && this.#all.#taker === this) this.#all.#taker = null
  }

  #has(lines: number, bytes: number): boolean {
    return this.lines >= lines || this.bytes >= bytes
  }
}
