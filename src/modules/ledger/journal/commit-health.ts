import type { Database } from '../../../storage/database.ts'

export interface LedgerObserver {
  committed(commit: { charges: number; durationMs: number }): void
  failing(isFailing: boolean): void
  /** Called when the database does not have charges any more that it had confirmed. */
  lost(charges: number): void
}

/** Requests are admitted for this long while commits fail, because a restarted database is usually back by then. */
const ADMIT_WHILE_FAILING_MS = 3_000
/** While commits fail, no request is admitted above this number of waiting charges. */
const WAITING_CHARGES_MAX = 20_000
const LOOK_MS = 1_000

/** Knows whether commits fail, and since when. */
export class CommitHealth {
  readonly #database: Pick<Database, 'ping'>
  readonly #observer: LedgerObserver
  /** Start of the current failures; null while commits succeed. */
  #failingSinceMs: number | null = null

  constructor({ database, observer }: { database: Pick<Database, 'ping'>; observer: LedgerObserver }) {
    this.#database = database
    this.#observer = observer
  }

  isHealthy(waitingCharges: number): boolean {
    if (this.#failingSinceMs === null) return true
    return (
      performance.now() - this.#failingSinceMs < ADMIT_WHILE_FAILING_MS &&
      waitingCharges < WAITING_CHARGES_MAX
    )
  }

  note(isFailing: boolean): void {
    if (isFailing === (this.#failingSinceMs !== null)) return
    this.#failingSinceMs = isFailing ? performance.now() : null
    this.#observer.failing(isFailing)
  }

  /** Pings the database while commits fail, because no request is admitted that would try a commit. */
  lookForDatabase(isWriting: () => boolean): void {
    if (this.#failingSinceMs === null || isWriting()) return
    setTimeout(() => {
      this.#database.ping().then(
        () => this.note(false),
        () => this.lookForDatabase(isWriting),
      )
    }, LOOK_MS).unref()
  }
}
