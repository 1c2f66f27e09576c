import { AppError } from '../../../kernel/app-error.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Queryable } from '../../../storage/database.ts'
import { errorCodeOf, messageOf } from '../../../storage/storage-error.ts'
import { postCharges, type RefusedCommit } from './post-charges.ts'

/** Posting takes from what commits need, so it waits until there were none for this long. */
const PAUSE_MS = 500
/** If there is no pause, it waits at most so long. */
const WAIT_MS_MAX = 5_000
/** And for no more charges than this: somebody who reads waits for them, for a tenth of a second where few accounts pay for them. */
const CHARGES_WORTH_A_POSTING = 10_000
/** Where nobody waits for it, it sleeps two thirds of its time, for as short as PostgreSQL can. */
const REST_SECONDS = 0.001
/** Not while more than this have come since it began: it has to keep up. */
const UNPOSTED_MAX = 20_000
const ATTEMPTS_MAX = 5
/** A serialisation failure, a deadlock: everything was undone. */
const CONFLICT_CODES = new Set(['40001', '40P01'])

/** Posts what was committed, in the next pause and whenever somebody wants to read the books. */
export class PostingSchedule {
  readonly #database: Queryable
  readonly #logger: Logger
  #timer: NodeJS.Timeout | null = null
  #waitingSinceMs = 0
  #unposted = 0
  /** Somebody waits for what is being posted. */
  #isAwaited = false
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor({ database, logger }: { database: Queryable; logger: Logger }) {
    this.#database = database
    this.#logger = logger
  }

  /** There is something to post. */
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

  /** Resolves when everything is posted that was committed before, by any process. */
  post(): Promise<void> {
    this.#isAwaited = true
    // The one that runs may have looked already; all who come meanwhile wait for the next.
    if (this.#running === null) return this.#run()
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = null
        return this.#run()
      })
    return this.#next
  }

  /** What cannot be posted now is posted by whoever comes next. */
  async close(): Promise<void> {
    this.#forgetTimer()
    await this.post().catch(this.#noteFailure)
  }

  #postWaiting(): void {
    this.#forgetTimer()
    // The last one looks at its end what came meanwhile.
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
    const running = this.#post().finally(() => {
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
        // What may have been posted is not posted twice.
        const isAgain = CONFLICT_CODES.has(errorCodeOf(error) ?? '') || mayBeDone(error)
        if (!isAgain || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }
}

function mayBeDone(error: unknown): boolean {
  return error instanceof AppError && error.mayBeDone
}
