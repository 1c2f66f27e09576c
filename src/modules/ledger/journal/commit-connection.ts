import type { Database, KeptConnection } from '../../../storage/database.ts'

/** So often it is looked whether there was a commit since the last time; if not, it goes back to those that all share. */
const CHECK_MS = 1_000

/**
 * The connection commits are sent on, kept from one to the next: to take one for each would cost a single client more
 * than the commit's own work.
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

  /** At once where it is kept: between two commits nothing is waited for. */
  take(): KeptConnection | Promise<KeptConnection> {
    this.#isResting = false
    this.#isUsed = true
    if (this.#kept?.isLost) this.release(true)
    return this.#kept ?? this.#open()
  }

  /** Nothing is to be written for now. */
  rest(): void {
    this.#isResting = true
    if (this.#kept !== null) this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref()
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
