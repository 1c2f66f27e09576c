import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../../../kernel/app-error.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Queryable } from '../../../storage/database.ts'
import { errorCodeOf, messageOf } from '../../../storage/storage-error.ts'
import { postCharges, type RefusedCommit } from './post-charges.ts'

/** Posting slows commits down, so it waits until there was none for this long. */
const PAUSE_MS = 500
/** Without a pause it waits at most this long. */
const WAIT_MS_MAX = 5_000
/** Post at this many charges, because a reader waits for them: about 0.1 s if they belong to few accounts. */
const CHARGES_WORTH_A_POSTING = 10_000
/** If no reader waits, posting sleeps two thirds of its time, in the shortest steps that PostgreSQL has. */
const REST_SECONDS = 0.001
/** Above this many new charges posting does not sleep, so that it keeps up. */
const UNPOSTED_MAX = 20_000
const ATTEMPTS_MAX = 5
/** A serialisation failure, a deadlock: everything was undone. */
const CONFLICT_CODES = new Set(['40001', '40P01'])

/** Posts committed charges in the next pause, and at once for a reader. */
export class PostingSchedule {
  readonly #database: Queryable
  readonly #logger: Logger
  /** Charges of all accounts are posted, and not for the reader that asked for it. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  #timer: NodeJS.Timeout | null = null
  #waitingSinceMs = 0
  #unposted = 0
  /** Whether a reader waits for the running posting. */
  #isAwaited = false
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor({ database, logger }: { database: Queryable; logger: Logger }) {
    this.#database = database
    this.#logger = logger
  }

  /** Schedules a posting for these committed charges. */
  noteCommitted(charges: number): void {
    this.#unposted += charges
    if (this.#unposted >= CHARGES_WORTH_A_POSTING) {
      this.#postWaiting()
    } else if (this.#timer === null) {
      this.#waitingSinceMs = performance.now()
      this.#timer = setTimeout(() => this.#postWaiting(), PAUSE_MS).unref()
    } else if (performance.now() - this.#waitingSinceMs < WAIT_MS_MAX - PAUSE_MS) {
      this.#timer.refresh()
    }
  }

  /** Resolves when all earlier commits of all processes are posted. */
  post(): Promise<void> {
    this.#isAwaited = true
    // The running posting may have read the journal already, so later callers share the next one.
    if (this.#running === null) return this.#run()
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = null
        return this.#run()
      })
    return this.#next
  }

  /** Posts the rest. If that fails, the next process posts it. */
  async close(): Promise<void> {
    this.#forgetTimer()
    await this.post().catch(this.#noteFailure)
  }

  #postWaiting(): void {
    this.#forgetTimer()
    // The running posting checks for new charges when it ends.
    if (this.#running !== null || this.#next !== null) return
    this.#isAwaited = false
    this.#run().catch(this.#noteFailure)
  }

  #forgetTimer(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  readonly #restSeconds = (): number => (this.#isAwaited || this.#unposted >= UNPOSTED_MAX ? 0 : REST_SECONDS)

  readonly #noteFailure = (error: unknown): void => {
    this.#logger.warn({ reason: messageOf(error) }, 'charges could not be posted yet')
  }

  #run(): Promise<void> {
    this.#unposted = 0
    const running = this.#runForAll(() => this.#post()).finally(() => {
      if (this.#running === running) this.#running = null
    })
    this.#running = running
    running.then(
      () => this.#unposted > 0 && this.noteCommitted(0),
      () => this.noteCommitted(0),
    )
    return running
  }

  async #post(): Promise<void> {
    for (const { borrowerId, sequence, reason } of await this.#tryToPost()) {
      this.#logger.error(
        { borrower: borrowerId, commit: String(sequence), reason },
        'charges that were committed could not be posted',
      )
    }
  }

  async #tryToPost(): Promise<readonly RefusedCommit[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await postCharges(this.#database, { restSeconds: this.#restSeconds })
      } catch (error) {
        // A retry is safe: a posted commit is not posted again.
        const isAgain = CONFLICT_CODES.has(errorCodeOf(error) ?? '') || mayBeDone(error)
        if (!isAgain || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }
}

function mayBeDone(error: unknown): boolean {
  return error instanceof AppError && error.mayBeDone
}
