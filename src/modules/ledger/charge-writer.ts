import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../kernel/app-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import { isConnectionLoss } from '../../storage/connection-loss.ts'
import type { Database } from '../../storage/database.ts'
import { messageOf, StorageError } from '../../storage/storage-error.ts'
import { commitCharges, type ChargeCommit } from './commit-charges.ts'
import type { SpentPart } from './purse.ts'
import type { Charge } from './usage-record.ts'

export interface PendingCharge extends Charge {
  readonly parts: readonly SpentPart[]
  /** Its answer has reached the client already: it is written however long that takes. */
  readonly isDelivered: boolean
  /** Called when it will not be written: what it took is free again. */
  readonly undo: () => void
}

interface ChargeWriterOptions {
  readonly database: Database
  readonly borrower: Borrower
  readonly logger: Logger
  readonly leaseMs: number
  /** How long an answer waits for its charge while the database is away. */
  readonly commitWaitMs: number
}

const CHARGES_PER_COMMIT_MAX = 1000
const RETRY_PAUSE_MS = 50
const RETRY_PAUSE_MS_MAX = 1_000
/** A database that restarts is back within this; until then work goes on with what is borrowed. */
const ADMIT_WHILE_FAILING_MS = 3_000
/** More than this waiting for a database that does not answer, and nothing more is admitted. */
const WAITING_CHARGES_MAX = 20_000

/** Charges that are committed together; all of them wait for the same promise. */
class Batch {
  readonly charges: PendingCharge[] = []
  readonly committed = Promise.withResolvers<void>()
  firstAtMs = 0

  constructor() {
    // Who waits is told; a charge of a client that left has nobody waiting.
    this.committed.promise.catch(() => {})
  }
}

/**
 * Group commit: charges that arrive while one commit is under way go together into the next. One at a time, numbered,
 * so that a commit whose outcome was lost with the connection is sent again without being done twice.
 */
export class ChargeWriter {
  readonly #options: ChargeWriterOptions
  #next = new Batch()
  #running: Promise<void> | null = null
  #sequence = 0
  #borrowerId = ''
  /** Since when commits fail; null while they succeed. */
  #failingSinceMs: number | null = null
  #waiting = 0

  constructor(options: ChargeWriterOptions) {
    this.#options = options
  }

  /** False while charges cannot be written: what is admitted now could not be answered. */
  isHealthy(): boolean {
    if (this.#failingSinceMs === null) return true
    return (
      performance.now() - this.#failingSinceMs < ADMIT_WHILE_FAILING_MS && this.#waiting < WAITING_CHARGES_MAX
    )
  }

  /** Resolves when the charge is durable. Rejects when it was not written and its answer must not leave. */
  write(charge: PendingCharge): Promise<void> {
    const batch = this.#next
    if (batch.charges.push(charge) === 1) batch.firstAtMs = performance.now()
    this.#waiting += 1
    // What else ends in this turn of the event loop comes along.
    this.#running ??= new Promise(setImmediate).then(() => this.#writeAll())
    return batch.committed.promise
  }

  /** Resolves when nothing is left to write. */
  async drain(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#next.charges.length > 0) {
        const batch = this.#next
        this.#next = new Batch()
        await this.#writeBatch(batch)
      }
    } finally {
      this.#running = null
    }
  }

  async #writeBatch(batch: Batch): Promise<void> {
    for (let start = 0; start < batch.charges.length; start += CHARGES_PER_COMMIT_MAX) {
      const charges = batch.charges.slice(start, start + CHARGES_PER_COMMIT_MAX)
      const isWritten = await this.#commitUntilKnown(charges, batch)
      this.#waiting -= charges.length
      if (!isWritten) batch.committed.reject(new Error('a charge could not be written and was undone'))
    }
    batch.committed.resolve()
  }

  /** False when the charges were undone. */
  async #commitUntilKnown(charges: PendingCharge[], batch: Batch): Promise<boolean> {
    const { borrower, logger } = this.#options
    let isOutcomeUnknown = false
    for (let pauseMs = RETRY_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, RETRY_PAUSE_MS_MAX)) {
      try {
        if (this.#borrowerId !== borrower.id) {
          this.#borrowerId = borrower.id
          this.#sequence = 0
        }
        await this.#commit(charges)
        this.#failingSinceMs = null
        return true
      } catch (error) {
        if (error instanceof LeasesLost) return this.#undo(charges)
        isOutcomeUnknown ||= isConnectionLoss(error)
        if (!isOutcomeUnknown && !isPassing(error)) {
          logger.error(
            { err: error, charges: charges.length },
            'charges could not be written and were undone',
          )
          return this.#undo(charges)
        }
        this.#failingSinceMs ??= performance.now()
        logger.warn({ reason: messageOf(error), charges: charges.length }, 'charges wait for the database')
      }
      const waitedMs = performance.now() - batch.firstAtMs
      if (!isOutcomeUnknown && waitedMs > this.#options.commitWaitMs) {
        const kept = charges.filter((charge) => charge.isDelivered)
        batch.committed.reject(cannotCharge())
        this.#undo(charges.filter((charge) => !charge.isDelivered))
        if (kept.length === 0) return false
        charges.splice(0, charges.length, ...kept)
      }
      await delay(pauseMs)
    }
  }

  async #commit(charges: readonly PendingCharge[]): Promise<void> {
    const { database, borrower, leaseMs } = this.#options
    const sentAtMs = performance.now()
    const commit: ChargeCommit = {
      borrowerId: this.#borrowerId,
      sequence: this.#sequence + 1,
      leaseMs,
      charges,
      spentByLease: addUpLeases(charges),
    }
    const isCommitted = (await commitCharges(database, commit)) || (await wasCommitted(database, commit))
    if (!isCommitted) {
      await borrower.declareLost()
      throw new LeasesLost('what had been borrowed was taken back')
    }
    this.#sequence += 1
    borrower.noteRenewed(sentAtMs)
  }

  #undo(charges: readonly PendingCharge[]): false {
    for (const charge of charges) charge.undo()
    return false
  }
}

class LeasesLost extends Error {}

/** Whether an earlier sending of the same commit arrived after all. */
async function wasCommitted(database: Database, { borrowerId, sequence }: ChargeCommit): Promise<boolean> {
  const [row] = await database.query<{ commit_sequence: bigint }>(
    'SELECT commit_sequence FROM borrowers WHERE id = $1',
    [borrowerId],
  )
  return row?.commit_sequence === BigInt(sequence)
}

function addUpLeases(charges: readonly PendingCharge[]): Map<string, NanoUsd> {
  const spent = new Map<string, NanoUsd>()
  for (const { parts } of charges) {
    for (const { lease, amountNanoUsd } of parts) {
      spent.set(lease.id, (spent.get(lease.id) ?? 0n) + amountNanoUsd)
    }
  }
  return spent
}

// The database is away or overloaded, and nothing was sent or all of it was rolled back.
function isPassing(error: unknown): boolean {
  if (error instanceof StorageError) return error.code === 'unreachable_database'
  const code = error instanceof Error && 'code' in error ? error.code : null
  return code === '57014' || code === '53300' || code === '40001' || code === '40P01' || isPoolBusy(error)
}

function isPoolBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

function cannotCharge(): AppError {
  const message = 'The answer could not be charged, because the database is away. Nothing was charged.'
  return new AppError('service_unavailable', message, { retryAfterSeconds: 2 })
}
