import type { Logger } from '../../kernel/logger.ts'
import type { Queryable } from '../database.ts'
import type { MessageBus } from '../bus/message-bus.ts'
import { messageOf } from '../storage-error.ts'
import { BorrowedRate, type RateBatcher } from './borrowed-rate.ts'
import type { RateGrant, RateVisit } from './rate-visit.ts'
import { VisitRounds } from './visit-rounds.ts'
import { Walk } from './walk.ts'

export type { BorrowedRate, RateOutcome } from './borrowed-rate.ts'

/** Rates shared exactly by all processes on one database: together they never take more than the bucket refills. */
export interface BorrowedRates {
  /** The bucket of this name. Its limit per minute is also its capacity, so a full minute may be taken at once. */
  rate(id: string, perMinute: number): BorrowedRate
  /** Number of buckets from which this process has borrowed. */
  countLoans(): number
  /** Gives everything back. */
  close(): Promise<void>
}

export interface BorrowedRatesOptions {
  readonly database: Queryable
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publishAndConfirm' | 'isConnected'>
  readonly logger: Logger
  /** Called when the database becomes available or unavailable. */
  readonly onOutage?: (isAway: boolean) => void
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number
  /** The database's time, for tests that move it. */
  readonly databaseTimeMs?: () => number
}

const TOPIC = 'limits.rate-recalled'
const TICK_MS = 500
const RATES_MAX = 100_000
/** Longer than a busy process needs to answer; a process that is slower may be dead. */
const RECALL_MS_MAX = 1_000
const SWEEP_TICKS = 240

export function createBorrowedRates(options: BorrowedRatesOptions): BorrowedRates {
  return new RateOffice(options)
}

class RateOffice implements BorrowedRates, RateBatcher {
  readonly #options: BorrowedRatesOptions
  readonly #nowMs: () => number
  readonly #rates = new Map<string, BorrowedRate>()
  readonly #walk = new Walk(this.#rates)
  readonly #rounds = new VisitRounds<BorrowedRate>((rates) => this.#visit(rates))
  readonly #ticker: NodeJS.Timeout
  readonly #unsubscribe: () => void
  #isAway = false
  #ticks = 0

  constructor(options: BorrowedRatesOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#ticker = setInterval(() => this.#tick(), TICK_MS).unref()
    this.#unsubscribe = options.messageBus.subscribe(TOPIC, (id) => this.#giveUp(id))
  }

  rate(id: string, perMinute: number): BorrowedRate {
    const known = this.#rates.get(id)
    if (known) return known
    if (this.#rates.size >= RATES_MAX) this.#forgetOne()
    const rate = new BorrowedRate(id, perMinute, this)
    this.#rates.set(id, rate)
    return rate
  }

  countLoans(): number {
    let count = 0
    for (const { loan } of this.#rates.values()) if (loan > 0) count += 1
    return count
  }

  visitSoon(rate: BorrowedRate): void {
    this.#rounds.add(rate)
  }

  async recall({ id }: BorrowedRate): Promise<void> {
    if (!this.#options.messageBus.isConnected()) return
    await this.#options.messageBus.publishAndConfirm(TOPIC, id, { timeoutMs: RECALL_MS_MAX })
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker)
    this.#unsubscribe()
    for (const rate of this.#rates.values()) if (rate.loan > 0) rate.giveUp()
    await this.#rounds.drained()
  }

  async #visit(rates: readonly BorrowedRate[]): Promise<void> {
    const sentAtMs = this.#nowMs()
    const visits = rates.map((rate) => rate.beginVisit(sentAtMs))
    try {
      const grants = await exchangeRates(this.#options, visits)
      const nowMs = this.#nowMs()
      this.#noteOutage(false)
      grants.forEach((grant, index) => rates[index]?.endVisit(grant, sentAtMs, nowMs))
    } catch (error) {
      this.#noteOutage(true)
      for (const rate of rates) rate.failVisit(error, this.#nowMs())
    }
  }

  /** Resolves when the bucket has the units. */
  async #giveUp(id: string): Promise<void> {
    const rate = this.#rates.get(id)
    // A loan may be arriving in a running visit.
    if (!rate || (rate.loan === 0 && !rate.isVisiting)) return
    rate.giveUp()
    while (rate.isVisiting || this.#rounds.has(rate)) await this.#rounds.nextEnd()
  }

  #tick(): void {
    const nowMs = this.#nowMs()
    for (const rate of this.#walk.next()) {
      if (rate.isDue(nowMs)) this.visitSoon(rate)
      else if (rate.isForgettable(nowMs)) this.#rates.delete(rate.id)
    }
    this.#ticks += 1
    if (this.#ticks % SWEEP_TICKS === 0) void this.#sweep()
  }

  // The one used longest ago is not known; one without a loan loses nothing.
  #forgetOne(): void {
    for (const rate of this.#rates.values()) {
      if (rate.loan > 0 || rate.isVisiting) continue
      this.#rates.delete(rate.id)
      return
    }
  }

  /** A bucket without visits for ten minutes is full, like a new one, so its row can be deleted. */
  async #sweep(): Promise<void> {
    try {
      await this.#options.database.query(
        `DELETE FROM rate_buckets
         WHERE refilled_at_ms < (extract(epoch FROM now()) * 1000)::bigint - 600000 AND level >= 0`,
      )
    } catch (error) {
      this.#options.logger.warn({ reason: messageOf(error) }, 'rates that are full could not be cleared away')
    }
  }

  #noteOutage(isAway: boolean): void {
    if (isAway === this.#isAway) return
    this.#isAway = isAway
    this.#options.onOutage?.(isAway)
  }
}

interface GrantRow {
  readonly taken: bigint
  readonly borrowed: bigint
  readonly level_left: bigint
  readonly lent_in_all: bigint
  readonly loan_epoch: bigint
  readonly loan_ms: bigint
}

const EXCHANGE = `
  SELECT grant_.* FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
      $8::bigint[]) WITH ORDINALITY
    AS visit (id, per_minute, closed, closed_epoch, kept, given_back, needed, wanted, number)
  CROSS JOIN LATERAL exchange_rate(visit.id, visit.per_minute, $9::bigint, visit.closed, visit.closed_epoch, visit.kept,
    visit.given_back, visit.needed, visit.wanted) AS grant_
  ORDER BY visit.number`

async function exchangeRates(
  { database, databaseTimeMs }: BorrowedRatesOptions,
  visits: readonly RateVisit[],
): Promise<RateGrant[]> {
  const column = (read: (visit: RateVisit) => string | number) => visits.map(read)
  const rows = await database.query<GrantRow>(EXCHANGE, [
    column(({ id }) => id),
    column(({ perMinute }) => perMinute),
    column(({ closed }) => closed),
    column(({ closedEpoch }) => closedEpoch),
    column(({ kept }) => kept),
    column(({ givenBack }) => givenBack),
    column(({ needed }) => needed),
    column(({ wanted }) => wanted),
    databaseTimeMs?.() ?? null,
  ])
  if (rows.length !== visits.length) throw new Error('the database answered for other rates than were asked')
  return rows.map((row) => ({
    taken: Number(row.taken),
    borrowed: Number(row.borrowed),
    levelLeft: Number(row.level_left),
    lentInAll: Number(row.lent_in_all),
    loanEpoch: Number(row.loan_epoch),
    loanMs: Number(row.loan_ms),
  }))
}
