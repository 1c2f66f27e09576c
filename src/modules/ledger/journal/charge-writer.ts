import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../../kernel/logger.ts'
import type { Borrower } from '../../../storage/borrowing/borrower.ts'
import type { Database, KeptConnection } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { ChargeBatch, type PendingCharge } from './charge-batch.ts'
import type { PostingSchedule } from './posting-schedule.ts'
import { CommitConnection } from './commit-connection.ts'
import { databaseAway, isBadData, isOutcomeLost, isPassing, leasesLost } from './commit-failure.ts'
import { CommitHealth, type LedgerObserver } from './commit-health.ts'
import { reportLost } from './confirmed-commits.ts'
import { JournalWriter } from './journal-writer.ts'

interface ChargeWriterOptions {
  readonly database: Database
  readonly borrower: Borrower
  readonly logger: Logger
  /** How long an answer waits for its charge while the database is unavailable. */
  readonly commitWaitMs: number
  readonly observer: LedgerObserver
  /** Notified of every commit. */
  readonly posting: Pick<PostingSchedule, 'noteCommitted'>
}

const CHARGES_PER_COMMIT_MAX = 1000
/** This many are committed at once. A smaller batch waits a moment for more, because fewer commits cost less. */
const CHARGES_WORTH_A_COMMIT = 20
const GATHER_MS_MAX = 0.6
const RETRY_PAUSE_MS = 50
/** How often attempts that hang are looked for. */
const WATCH_MS_MAX = 250
const WATCHES_PER_WAIT = 8
/** A commit that takes less does not hang, however small `commitWaitMs` is. */
const HANG_MS_MIN = 1_000
const RETRY_PAUSE_MS_MAX = 1_000

/**
 * Group commit: charges that arrive during one commit go together into the next. Commits are numbered and sent one at a
 * time, so that a commit with an unknown outcome can be sent again without being done twice.
 */
export class ChargeWriter {
  readonly #options: ChargeWriterOptions
  #next = new ChargeBatch()
  #full: ChargeBatch[] = []
  #current: ChargeBatch | null = null
  #running: Promise<void> | null = null
  readonly #connection: CommitConnection
  readonly #journal: JournalWriter
  /** Whether the last commit had several charges. If not, the next charge is sent without waiting for others. */
  #isInCompany = true
  readonly #health: CommitHealth
  #waiting = 0
  /** When the commit was sent that is not answered yet. */
  #sentAtMs: number | null = null
  #watch: NodeJS.Timeout | null = null
  readonly #watchMs: number

  constructor(options: ChargeWriterOptions) {
    this.#options = options
    this.#connection = new CommitConnection(options.database)
    this.#health = new CommitHealth(options)
    this.#journal = new JournalWriter((lost) => reportLost(lost, options))
    this.#watchMs = Math.min(WATCH_MS_MAX, options.commitWaitMs / WATCHES_PER_WAIT)
  }

  /** False while charges cannot be written, so new requests could not be answered. */
  isHealthy(): boolean {
    return this.#health.isHealthy(this.#waiting)
  }

  /** Resolves when the charge is durable. Rejects if it was not written and its answer must not be sent. */
  write(charge: PendingCharge): Promise<void> {
    if (this.#next.charges.length >= CHARGES_PER_COMMIT_MAX) {
      this.#full.push(this.#next)
      this.#next = new ChargeBatch()
    }
    const batch = this.#next
    if (batch.charges.push(charge) === 1) batch.firstAtMs = performance.now()
    this.#waiting += 1
    this.#running ??= this.#writeAll()
    this.#watch ??= setInterval(() => this.#refuseHanging(), this.#watchMs).unref()
    return batch.promiseTo(charge)
  }

  /** Resolves when all charges are written or undone. */
  async drain(): Promise<void> {
    while (this.#running !== null) await this.#running
    this.#connection.release(false)
  }

  /** Resolves when all charges given so far are written or undone; later charges do not matter. */
  async flush(): Promise<void> {
    const last = this.#next.charges.length > 0 ? this.#next : (this.#full.at(-1) ?? this.#current)
    await last?.ended.promise
  }

  /**
   * Ends the wait of clients also while an attempt hangs, because a server that does not answer can hold one for much longer than
   * `commitWaitMs`. After half of that time its connection is closed, so that another server has a chance to answer.
   */
  #refuseHanging(): void {
    const batch = this.#current
    if (this.#running === null) {
      if (this.#watch !== null) clearInterval(this.#watch)
      this.#watch = null
      return
    }
    if (batch === null) return
    const { commitWaitMs } = this.#options
    const nowMs = performance.now()
    const hangMs = Math.max(commitWaitMs / 2, HANG_MS_MIN)
    if (this.#sentAtMs !== null && !batch.isCut && nowMs - this.#sentAtMs > hangMs) {
      batch.isCut = true
      this.#connection.cut()
    }
    if (nowMs - batch.firstAtMs > commitWaitMs) {
      if (this.#sentAtMs !== null || this.#journal.isOutcomeUnknown) batch.doubt()
      else batch.refuse()
    }
    this.#refuseLate()
  }

  async #writeAll(): Promise<void> {
    let written: ChargeBatch | null = null
    try {
      if (this.#isInCompany) await this.#gather()
      // The last check and the end of the loop are in one turn, so no charge can arrive between them and be forgotten.
      for (let batch = this.#takeNext(); batch !== null; batch = this.#takeNext()) {
        this.#current = batch
        const writing = this.#writeBatch(batch)
        // Send the answers of the last commit while the database works on this one.
        written?.resolve()
        await writing
        this.#isInCompany = batch.charges.length > 1
        this.#waiting -= batch.charges.length
        batch.ended.resolve()
        written = batch
        if (this.#next.charges.length < CHARGES_WORTH_A_COMMIT) {
          written.resolve()
          if (this.#isInCompany) await this.#gather()
        }
      }
    } finally {
      written?.resolve()
      this.#connection.rest()
      this.#current = null
      this.#running = null
      this.#health.lookForDatabase(() => this.#running !== null)
    }
  }

  /** Waits one turn of the event loop for more charges, and further turns while each brings more. */
  async #gather(): Promise<void> {
    const startedAtMs = performance.now()
    let known: number
    do {
      known = this.#waiting
      await new Promise(setImmediate)
    } while (this.#waiting > known && performance.now() - startedAtMs < GATHER_MS_MAX)
  }

  #takeNext(): ChargeBatch | null {
    const batch = this.#full.shift() ?? this.#next
    if (batch.charges.length === 0) return null
    if (batch === this.#next) this.#next = new ChargeBatch()
    return batch
  }

  /** Retries until each charge is written or undone. Rejects the undone ones; the caller resolves the others. */
  async #writeBatch(batch: ChargeBatch): Promise<void> {
    this.#journal.writeAs(this.#options.borrower.id)
    let charges: readonly PendingCharge[] = batch.charges
    if (charges.some(({ account }) => account.isLost)) {
      charges = this.#undo(charges, batch, leasesLost(), (charge) => isOut(charge) && !charge.account.isLost)
    }
    for (
      let pauseMs = RETRY_PAUSE_MS;
      charges.length > 0;
      pauseMs = Math.min(pauseMs * 2, RETRY_PAUSE_MS_MAX)
    ) {
      try {
        // Looked up apart from the next attempt, because clients may be told meanwhile.
        if (this.#journal.isOutcomeUnknown) charges = await this.#findUnwritten(charges)
        if (batch.isTold) charges = this.#undo(charges, batch, databaseAway(), isOut)
        const isCommitted = charges.length === 0 || (await this.#commit(charges, batch))
        this.#health.note(false)
        if (!isCommitted) this.#undo(charges, batch, leasesLost())
        return
      } catch (error) {
        this.#connection.release(true)
        if (
          isBadData(error) ||
          !(this.#journal.isOutcomeUnknown || isOutcomeLost(error) || isPassing(error))
        ) {
          return this.#writeApart(charges, batch, error)
        }
        this.#health.note(true)
        const reason = messageOf(error)
        this.#options.logger.warn({ reason, charges: charges.length }, 'charges wait for the database')
      }
      const waitedMs = performance.now() - batch.firstAtMs
      if (waitedMs > this.#options.commitWaitMs) {
        if (this.#journal.isOutcomeUnknown) batch.doubt()
        else charges = this.#undo(charges, batch, databaseAway(), isOut)
      }
      this.#refuseLate()
      await delay(pauseMs)
    }
  }

  /** Looks up the outcome of a commit. Returns its charges unless they are written. */
  async #findUnwritten(charges: readonly PendingCharge[]): Promise<readonly PendingCharge[]> {
    const { observer, posting } = this.#options
    const askedAtMs = performance.now()
    if ((await this.#journal.lookUp(await this.#connection.take())) !== 'written') return charges
    posting.noteCommitted(charges.length)
    observer.committed({ charges: charges.length, durationMs: performance.now() - askedAtMs })
    return []
  }

  /** Refuses charges queued behind a failing commit after `commitWaitMs`; they were never sent. */
  #refuseLate(): void {
    const beforeMs = performance.now() - this.#options.commitWaitMs
    if (this.#next.charges.length > 0 && this.#next.firstAtMs < beforeMs) {
      this.#full.push(this.#next)
      this.#next = new ChargeBatch()
    }
    for (const batch of this.#full.filter(({ firstAtMs }) => firstAtMs < beforeMs)) {
      const kept = this.#undo(batch.charges, batch, databaseAway(), isOut)
      this.#waiting -= batch.charges.length - kept.length
      batch.charges = kept
      if (kept.length === 0) batch.ended.resolve()
    }
    this.#full = this.#full.filter(({ charges }) => charges.length > 0)
  }

  /** Returns false if the commit can never be written, because the leases were taken back. */
  async #commit(charges: readonly PendingCharge[], batch: ChargeBatch): Promise<boolean> {
    const { borrower, logger, observer, posting } = this.#options
    const { borrowerId } = this.#journal
    const sentAtMs = performance.now()
    const taken = this.#connection.take()
    const connection = taken instanceof Promise ? await taken : taken
    // Clients were told while this waited for a connection. The next attempt is made without their charges.
    if (batch.isTold && !charges.every(isOut)) throw databaseAway()
    const isCommitted = await this.#send(connection, charges)
    if (isCommitted) {
      posting.noteCommitted(charges.length)
      observer.committed({ charges: charges.length, durationMs: performance.now() - sentAtMs })
    } else if (borrower.id === borrowerId) {
      // Registering again needs a connection, and this may be the last one in the pool.
      this.#connection.release(false)
      await borrower.declareLost(borrowerId).catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'the process could not start to borrow anew yet')
      })
    }
    return isCommitted
  }

  async #send(connection: KeptConnection, charges: readonly PendingCharge[]): Promise<boolean> {
    this.#sentAtMs = performance.now()
    try {
      return await this.#journal.write(connection, charges)
    } finally {
      this.#sentAtMs = null
    }
  }

  /** The database refused one of the charges: writes the delivered ones one by one and undoes the rest. */
  async #writeApart(charges: readonly PendingCharge[], batch: ChargeBatch, cause: unknown): Promise<void> {
    this.#options.logger.error({ err: cause, charges: charges.length }, 'charges could not be written')
    const reason = new Error('a charge could not be written and was undone', { cause })
    const kept = this.#undo(charges, batch, reason, (charge) => charges.length > 1 && isOut(charge))
    for (const charge of kept) {
      const single = new ChargeBatch()
      single.charges.push(charge)
      single.firstAtMs = batch.firstAtMs
      await this.#writeBatch(single)
    }
  }

  /** Rejects the batch and undoes all charges except those to keep, which must be delivered ones. */
  #undo(
    charges: readonly PendingCharge[],
    batch: ChargeBatch,
    reason: Error,
    isKept: (charge: PendingCharge) => boolean = () => false,
  ): PendingCharge[] {
    const kept = charges.filter(isKept)
    batch.reject(reason)
    for (const charge of charges) if (!kept.includes(charge)) charge.undo()
    return kept
  }
}

function isOut({ isDelivered }: PendingCharge): boolean {
  return isDelivered
}
