import type { Database, KeptConnection } from '../../../storage/database.ts'

/** How often to check for commits; after an interval without one, the connection returns to the pool. */
const CHECK_MS = 1_000

/**
 * Keeps one connection for all commits. Taking one from the pool for each commit would cost a single client more than the
 * commit itself.
 */
export class CommitConnection {
  readonly #database: Pick<Database, 'keepConnection'>
  #kept: KeptConnection | null = null
  #timer: NodeJS.Timeout | null = null
  #isResting = false
  #isUsed = false

  constructor(database: Pick<Database, 'keepConnection'>) {
    this.#database = database
  }

  /** Returns the kept connection without a promise, so that consecutive commits do not wait. */
  take(): KeptConnection | Promise<KeptConnection> {
    this.#isResting = false
    this.#isUsed = true
    if (this.#kept?.isLost) this.release(true)
    return this.#kept ?? this.#open()
  }

  /** Called when there is nothing to write. */
  rest(): void {
    this.#isResting = true
    if (this.#kept !== null) this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref()
  }

  /** Ends a statement that hangs. The other connections of the pool probably hang too. */
  cut(): void {
    const hanging = this.#kept
    this.#kept = null
    this.release(true)
    hanging?.release(true, true)
  }

  release(isBroken: boolean): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
    this.#kept?.release(isBroken)
    this.#kept = null
  }

  async #open(): Promise<KeptConnection> {
    this.#kept = await this.#database.keepConnection()
    return this.#kept
  }

  #check(): void {
    if (this.#isResting && !this.#isUsed) this.release(false)
    this.#isUsed = false
  }
}
