import type { Queryable } from '../database.ts'
import type { MessageBus } from '../bus/message-bus.ts'
import type { Borrower, Reclaimer } from './borrower.ts'
import { SlotShare, type SlotDesk } from './slot-share.ts'
import { VisitRounds } from './visit-rounds.ts'
import { Walk } from './walk.ts'

export type { SlotShare } from './slot-share.ts'

/** Slots shared exactly by all processes on one database: never more are in use than a pool has. */
export interface BorrowedSlots {
  share(id: string, capacity: number): SlotShare
  countLoans(): number
  close(): Promise<void>
}

export interface BorrowedSlotsOptions {
  readonly database: Queryable
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publishAndConfirm' | 'isConnected'>
  readonly borrower: Pick<Borrower, 'id' | 'isTrusted' | 'declareLost' | 'onLost'>
  readonly onOutage?: (isAway: boolean) => void
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number
  /** How long a recall waits for the other processes; tests on a busy machine raise it. */
  readonly recallMsMax?: number
}

const TOPIC = 'limits.slots-recalled'
const TICK_MS = 500
const SHARES_MAX = 100_000
/** Longer than a busy process needs to answer; a process that is slower may be dead. */
const RECALL_MS_MAX = 1_000

/** Frees the slots of a dead process. */
export const reclaimSlots: Reclaimer = async (transaction, borrowerId) => {
  await transaction.query('SELECT reclaim_slots($1)', [borrowerId])
}

export function createBorrowedSlots(options: BorrowedSlotsOptions): BorrowedSlots {
  return new SlotOffice(options)
}

class SlotOffice implements BorrowedSlots, SlotDesk {
  readonly #options: BorrowedSlotsOptions
  readonly #nowMs: () => number
  readonly #shares = new Map<string, SlotShare>()
  readonly #walk = new Walk(this.#shares)
  readonly #rounds = new VisitRounds<SlotShare>((shares) => this.#visit(shares))
  readonly #ticker: NodeJS.Timeout
  readonly #unsubscribe: () => void
  #isAway = false

  constructor(options: BorrowedSlotsOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#ticker = setInterval(() => this.#tick(), TICK_MS).unref()
    this.#unsubscribe = options.messageBus.subscribe(TOPIC, (id) => this.#giveUp(id))
    options.borrower.onLost(() => {
      for (const share of this.#shares.values()) share.lose()
    })
  }

  share(id: string, capacity: number): SlotShare {
    const known = this.#shares.get(id)
    if (known) return known
    if (this.#shares.size >= SHARES_MAX) this.#forgetOne()
    const share = new SlotShare(id, capacity, this)
    this.#shares.set(id, share)
    return share
  }

  countLoans(): number {
    let count = 0
    for (const { loan } of this.#shares.values()) if (loan > 0) count += 1
    return count
  }

  visitSoon(share: SlotShare): void {
    this.#rounds.add(share)
  }

  async recall({ id }: SlotShare): Promise<void> {
    if (!this.#options.messageBus.isConnected()) return
    const { messageBus, recallMsMax: timeoutMs = RECALL_MS_MAX } = this.#options
    await messageBus.publishAndConfirm(TOPIC, id, { timeoutMs })
  }

  isTrusted(): boolean {
    return this.#options.borrower.isTrusted()
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker)
    this.#unsubscribe()
    for (const share of this.#shares.values()) if (share.loan > 0) share.giveUp()
    await this.#rounds.drained()
  }

  async #visit(shares: readonly SlotShare[]): Promise<void> {
    const nowMs = this.#nowMs()
    const visits = shares.map((share) => share.beginVisit(nowMs))
    const borrowerId = this.#options.borrower.id
    try {
      const rows = await this.#options.database.query<{ slots: number; lent_in_all: number }>(EXCHANGE, [
        borrowerId,
        visits.map(({ id }) => id),
        visits.map(({ capacity }) => capacity),
        visits.map(({ held }) => held),
        visits.map(({ busy }) => busy),
        visits.map(({ needed }) => needed),
        visits.map(({ wanted }) => wanted),
      ])
      if (rows.length !== shares.length) await this.#startAgain(borrowerId, shares)
      rows.forEach((row, index) =>
        shares[index]?.endVisit({ slots: row.slots, lentInAll: row.lent_in_all }, this.#nowMs()),
      )
      this.#noteOutage(false)
    } catch (error) {
      this.#noteOutage(true)
      for (const share of shares) share.failVisit(error, this.#nowMs())
    }
  }

  /** The pools have dropped this process: it borrows again under its new id. */
  async #startAgain(deadId: string, shares: readonly SlotShare[]): Promise<void> {
    await this.#options.borrower.declareLost(deadId)
    for (const share of shares) this.#rounds.add(share)
  }

  async #giveUp(id: string): Promise<void> {
    const share = this.#shares.get(id)
    // A loan may be arriving in a running visit.
    if (!share || (share.loan === 0 && !share.isVisiting)) return
    share.giveUp()
    while (share.isVisiting || this.#rounds.has(share)) await this.#rounds.nextEnd()
  }

  #tick(): void {
    const nowMs = this.#nowMs()
    for (const share of this.#walk.next()) {
      if (share.isDue(nowMs)) this.visitSoon(share)
      else if (share.isForgettable(nowMs)) this.#shares.delete(share.id)
    }
  }

  #forgetOne(): void {
    for (const share of this.#shares.values()) {
      if (share.loan > 0 || share.isVisiting) continue
      this.#shares.delete(share.id)
      return
    }
  }

  #noteOutage(isAway: boolean): void {
    if (isAway === this.#isAway) return
    this.#isAway = isAway
    this.#options.onOutage?.(isAway)
  }
}

const EXCHANGE = `
  SELECT slots, lent_in_all
  FROM exchange_plain_slots($1, $2::text[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[])`
