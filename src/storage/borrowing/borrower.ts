import type { Logger } from '../../kernel/logger.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Database } from '../database.ts'
import { errorCodeOf, messageOf, UNIQUE_VIOLATION } from '../storage-error.ts'
import { CAPABILITIES } from './capabilities.ts'
import { reclaimExpired, reclaimNow, type Reclaimer } from './reclaim.ts'

export type { Reclaimer } from './reclaim.ts'

/**
 * This process, as the others see it. Its loans are valid while it renews its lease. If it stops renewing, any other
 * process takes them back.
 */
export interface Borrower {
  readonly id: string
  /** A small number that is unique among living borrowers. */
  readonly writer: number
  /** False if the lease could not be renewed in time, so the others may have taken everything back. */
  isTrusted(): boolean
  /**
   * Another process declared this one dead: its loans are gone, and it registers under a new id. Does nothing if the dead id
   * has been replaced already.
   */
  declareLost(deadId: string): Promise<void>
  /** Called before anything can be borrowed under the new id. */
  onLost(handler: () => void): void
  /** Gives everything back; nothing may be borrowed any more. */
  close(): Promise<void>
}

export interface BorrowerOptions {
  readonly database: Database
  readonly logger: Logger
  readonly leaseMs: number
  readonly reclaimers: readonly Reclaimer[]
}

const REGISTER_ATTEMPTS_MAX = 20
const RENEWALS_PER_LEASE = 6

export async function createBorrower(options: BorrowerOptions): Promise<Borrower> {
  const borrower = new RegisteredBorrower(options)
  await borrower.open()
  return borrower
}

class RegisteredBorrower implements Borrower {
  readonly #options: BorrowerOptions
  readonly #lostHandlers: (() => void)[] = []
  #identity = { id: '', writer: -1 }
  #renewedAtMs = 0
  #timer: NodeJS.Timeout | null = null
  #working: Promise<void> = Promise.resolve()
  #recovering: Promise<void> | null = null
  #isClosed = false

  constructor(options: BorrowerOptions) {
    this.#options = options
  }

  get id(): string {
    return this.#identity.id
  }

  get writer(): number {
    return this.#identity.writer
  }

  async open(): Promise<void> {
    await this.#register()
    this.#schedule()
  }

  isTrusted(): boolean {
    return performance.now() - this.#renewedAtMs < this.#options.leaseMs
  }

  onLost(handler: () => void): void {
    this.#lostHandlers.push(handler)
  }

  declareLost(deadId: string): Promise<void> {
    if (deadId !== this.id) return Promise.resolve()
    this.#recovering ??= this.#startAgain().finally(() => {
      this.#recovering = null
    })
    return this.#recovering
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#working
    await reclaimNow(this.#options, this.id).catch((error: unknown) => {
      // If this fails, the lease expires later.
      this.#options.logger.warn({ reason: messageOf(error) }, 'what was borrowed could not be given back')
    })
  }

  async #startAgain(): Promise<void> {
    this.#options.logger.warn(
      { borrower: this.id },
      'this process was taken for dead and starts to borrow anew',
    )
    this.#renewedAtMs = Number.NEGATIVE_INFINITY
    for (const handler of this.#lostHandlers) handler()
    await this.#register()
  }

  async #register(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const sentAtMs = performance.now()
      const id = createId()
      try {
        const [row] = await this.#options.database.query<{ writer: number }>(REGISTER, [
          id,
          this.#options.leaseMs,
          CAPABILITIES,
        ])
        if (row === undefined) throw new Error('an inserted borrower was not returned')
        this.#identity = { id, writer: row.writer }
        this.#renewedAtMs = sentAtMs
        return
      } catch (error) {
        // Two processes that start together may choose the same number; one of them retries.
        if (errorCodeOf(error) !== UNIQUE_VIOLATION || attempt === REGISTER_ATTEMPTS_MAX) throw error
      }
    }
  }

  #schedule(): void {
    const pauseMs = this.#options.leaseMs / RENEWALS_PER_LEASE
    this.#timer = setTimeout(() => {
      this.#working = this.#renewAndReclaim().finally(() => {
        if (!this.#isClosed) this.#schedule()
      })
    }, pauseMs).unref()
  }

  async #renewAndReclaim(): Promise<void> {
    try {
      const sentAtMs = performance.now()
      const { id } = this
      const renewed = await this.#options.database.query(RENEW, [id, this.#options.leaseMs])
      if (renewed.length === 0) await this.declareLost(id)
      else if (sentAtMs > this.#renewedAtMs) this.#renewedAtMs = sentAtMs
      await reclaimExpired(this.#options)
    } catch (error) {
      this.#options.logger.warn({ reason: messageOf(error) }, 'what is borrowed could not be renewed')
    }
  }
}

// The smallest free number is 0, or follows one in use.
const REGISTER = `
  INSERT INTO borrowers (id, writer, expires_at, capabilities)
  SELECT $1, min(free.writer), now() + $2 * interval '1 millisecond', $3::text[]
  FROM (SELECT 0 AS writer UNION ALL SELECT writer + 1 FROM borrowers WHERE closed_at IS NULL) AS free
  WHERE free.writer <= 32767
    AND NOT EXISTS (SELECT FROM borrowers WHERE borrowers.writer = free.writer AND closed_at IS NULL)
  RETURNING writer`

const RENEW = `
  UPDATE borrowers SET expires_at = now() + $2 * interval '1 millisecond'
  WHERE id = $1 AND closed_at IS NULL RETURNING id`
