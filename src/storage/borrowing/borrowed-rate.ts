import type { RateGrant, RateVisit } from './rate-visit.ts'
import { SlicePace } from './slice-pace.ts'
import { SpareUnits } from './spare-units.ts'

export type RateOutcome =
  | { readonly isTaken: true }
  | { readonly isTaken: false; readonly retryAfterMs: number }

/** The connection of a rate to its bucket in the database. */
export interface RateBatcher {
  visitSoon(rate: BorrowedRate): void
  /** Makes the other processes give back their units of this bucket. */
  recall(rate: BorrowedRate): Promise<void>
}

interface Waiter {
  readonly units: number
  /** Whether this process and the others have given back their units for it; then it visits a second time. */
  hasRecalled: boolean
  readonly resolve: (outcome: RateOutcome) => void
  readonly reject: (error: unknown) => void
}

const SCALE = 60_000
/** A loan lasts one to two epochs. Units left after that are lost; the bucket refills them. */
const EPOCH_MS = 120_000
/** A loan that is unused for this long is not renewed and expires. */
const IDLE_MS = 60_000
const RENEW_MS = 20_000
const PAUSE_MS = 100
const RECALL_PAUSE_MS = 250
const OUTAGE_PAUSE_MS = 250
const WAITERS_MAX = 10_000
const TAKEN: RateOutcome = { isTaken: true }

/**
 * The part of a shared rate that this process has borrowed and spends in memory. It never holds more than the bucket has
 * lent to it, so all processes together never hold more than the bucket's capacity.
 */
export class BorrowedRate {
  readonly id: string
  readonly #batcher: RateBatcher
  #perMinute: number
  /** Negative if more was used than borrowed. */
  #inHand = 0
  /** The most units allowed in memory, and the loan that the next visit closes; the second is zero if it is unknown. */
  #loan = 0
  #closable = 0
  #loanEpoch = -1
  #loanEndsMs = 0
  #topUpBelow = 0
  #topUpAfterMs = 0
  readonly #spare = new SpareUnits()
  #debtUnderWay = 0
  #isVisiting = false
  #isGivingUp = false
  #waiting: Waiter[] = []
  #underWay: Waiter[] = []
  readonly #pace = new SlicePace()
  #usedAtMs = 0
  #visitedAtMs = -1
  #recalledAtMs = Number.NEGATIVE_INFINITY
  /** The running recall, if any. */
  #recall: Promise<void> | null = null
  /** State of the bucket as of the last visit. */
  #levelSeen = 0
  #lentElsewhere = 0
  #refusedUnits = Infinity
  #refusedUntilMs = 0

  constructor(id: string, perMinute: number, batcher: RateBatcher) {
    this.id = id
    this.#perMinute = perMinute
    this.#batcher = batcher
  }

  get isVisiting(): boolean {
    return this.#isVisiting
  }

  /** Units that the bucket has lent to this process. */
  get loan(): number {
    return this.#loan
  }

  /** Takes units from memory. Returns false if there are too few; then `take` asks the bucket. */
  takeNow(units: number, perMinute: number, nowMs: number): boolean {
    if (this.#inHand < units || this.#inHand <= 0) return false
    if (nowMs >= this.#loanEndsMs || perMinute !== this.#perMinute) return false
    this.#inHand -= units
    this.#pace.noteUse(units)
    this.#usedAtMs = nowMs
    if (this.#inHand < this.#topUpBelow && nowMs >= this.#topUpAfterMs && !this.#isVisiting)
      this.#batcher.visitSoon(this)
    return true
  }

  /** Refuses without a visit if the last one shows that the bucket cannot have enough yet. */
  take(units: number, perMinute: number, nowMs: number): RateOutcome | Promise<RateOutcome> {
    const needed = Math.max(1, Math.min(units, perMinute))
    if (perMinute !== this.#perMinute) this.#changeLimit(perMinute, nowMs)
    if (needed >= this.#refusedUnits && nowMs < this.#refusedUntilMs) return this.#refuse(needed, nowMs)
    if (this.#waiting.length >= WAITERS_MAX) return { isTaken: false, retryAfterMs: 1000 }
    this.#usedAtMs = nowMs
    this.#pace.noteSize(needed)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ units: needed, hasRecalled: false, resolve, reject })
      if (!this.#isVisiting) this.#batcher.visitSoon(this)
    })
  }

  /** Corrects a take: returns unused units, or, if negative, records further ones as owed. */
  giveBack(units: number, nowMs: number): void {
    if (units < 0) {
      this.#pace.noteUse(-units)
      this.#pace.noteSize(-units)
    }
    this.#inHand += units
    if (this.#inHand > this.#loan) {
      this.#spare.add(this.#inHand - this.#loan, nowMs)
      this.#inHand = this.#loan
    }
    // Report an overdraft at once, so that other processes do not spend units that are used up.
    if ((this.#inHand < 0 || this.#isSpareWorthIt()) && !this.#isVisiting) this.#batcher.visitSoon(this)
  }

  /** Units that all processes together can still take, as far as this process knows. */
  remaining(nowMs: number): number {
    const sinceMs = Math.max(0, nowMs - this.#visitedAtMs)
    const refilled = (this.#levelSeen + sinceMs * this.#perMinute) / SCALE
    const level = Math.min(refilled, this.#perMinute - this.#loan - this.#lentElsewhere)
    return Math.max(0, Math.min(this.#perMinute, Math.floor(level + this.#inHand)))
  }

  /** Time until the bucket is full again, if this many units remain. */
  resetMs(remaining: number): number {
    return ((this.#perMinute - remaining) * SCALE) / this.#perMinute
  }

  /** Whether a visit is due: to report a debt, to give back many units, or to renew a used loan that ends soon. */
  isDue(nowMs: number): boolean {
    if (this.#isVisiting || nowMs < this.#topUpAfterMs) return false
    if (this.#inHand < 0 || this.#isSpareWorthIt()) return true
    return this.#loan > 0 && this.#loanEndsMs - nowMs < RENEW_MS && !this.#isIdle(nowMs)
  }

  /** Whether it can be forgotten without losing units. */
  isForgettable(nowMs: number): boolean {
    const isOver = this.#loan === 0 || nowMs >= this.#loanEndsMs
    const isUsed = this.#isVisiting || this.#waiting.length > 0 || nowMs - this.#usedAtMs <= SCALE
    return isOver && this.#inHand >= 0 && !isUsed
  }

  /** Makes the next visit give back all units. */
  giveUp(): void {
    this.#isGivingUp = true
    if (!this.#isVisiting) this.#batcher.visitSoon(this)
  }

  /** Prepares the next visit. Until its outcome is known, only the kept units can be spent. */
  beginVisit(nowMs: number): RateVisit {
    if (nowMs >= this.#loanEndsMs) {
      this.#inHand = Math.min(0, this.#inHand)
      this.#closable = 0
    }
    const isLeaving = this.#isGivingUp || this.#isIdle(nowMs)
    const kept = isLeaving ? 0 : Math.max(0, this.#inHand)
    const givenBack = this.#inHand - kept + this.#spare.takeOut(this.#perMinute, nowMs)
    this.#isVisiting = true
    this.#isGivingUp = false
    this.#underWay = this.#waiting
    this.#waiting = []
    const isAsking = this.#underWay.length > 0 || (!isLeaving && this.#closable > 0)
    const visit = {
      id: this.id,
      perMinute: this.#perMinute,
      closed: this.#closable,
      closedEpoch: this.#loanEpoch,
      kept,
      givenBack,
      needed: this.#underWay.reduce((sum, { units }) => sum + units, 0),
      // A visit that only returns units borrows none, because another request may have been refused for lack of them.
      wanted: isAsking ? Math.max(0, this.#pace.chooseSlice(this.#perMinute, nowMs) - kept) : 0,
    }
    this.#inHand = kept
    this.#loan = kept
    this.#debtUnderWay = Math.min(0, givenBack)
    return visit
  }

  endVisit(grant: RateGrant, sentAtMs: number, nowMs: number): void {
    const kept = this.#loan
    this.#isVisiting = false
    this.#debtUnderWay = 0
    this.#loan = kept + grant.borrowed
    this.#closable = this.#loan
    this.#loanEpoch = grant.loanEpoch
    this.#loanEndsMs = sentAtMs + grant.loanMs
    this.#levelSeen = grant.levelLeft
    this.#lentElsewhere = Math.max(0, grant.lentInAll - this.#loan)
    this.#visitedAtMs = sentAtMs
    this.#topUpBelow = this.#loan / 2
    this.#topUpAfterMs = grant.borrowed === 0 ? nowMs + PAUSE_MS : nowMs
    this.#refusedUnits = Infinity
    this.giveBack(grant.borrowed, nowMs)
    this.#distribute(grant.taken, nowMs)
    if (this.#waiting.length > 0 || this.#isGivingUp || this.#isSpareWorthIt()) this.#batcher.visitSoon(this)
  }

  /** The visit may or may not have happened: returned units count as gone, and the loan expires by itself. */
  failVisit(error: unknown, nowMs: number): void {
    this.#isVisiting = false
    this.#closable = 0
    this.#inHand += this.#debtUnderWay
    this.#debtUnderWay = 0
    this.#topUpAfterMs = nowMs + OUTAGE_PAUSE_MS
    for (const waiter of this.#underWay.splice(0)) waiter.reject(error)
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error)
  }

  #distribute(taken: number, nowMs: number): void {
    let left = taken
    const unserved: Waiter[] = []
    for (const waiter of this.#underWay.splice(0)) {
      if (waiter.units > left) {
        unserved.push(waiter)
        continue
      }
      left -= waiter.units
      this.#pace.noteUse(waiter.units)
      waiter.resolve(TAKEN)
    }
    // Too few for the remaining requests: give the units back at once.
    this.#spare.add(left, nowMs)
    this.#levelSeen += left * SCALE
    this.#isGivingUp ||= left > 0
    const recalling = unserved.filter((waiter) => this.#mayRecall(waiter, nowMs))
    for (const waiter of unserved) if (!recalling.includes(waiter)) this.#refuseWaiter(waiter, nowMs)
    if (recalling.length > 0) void this.#recallFor(recalling, nowMs)
  }

  #mayRecall(waiter: Waiter, nowMs: number): boolean {
    if (waiter.hasRecalled) return false
    return this.#inHand > 0 || this.#isRecallDue(nowMs) || (this.#lentElsewhere > 0 && this.#recall !== null)
  }

  #isRecallDue(nowMs: number): boolean {
    return this.#lentElsewhere > 0 && nowMs - this.#recalledAtMs >= RECALL_PAUSE_MS
  }

  /** Requests that arrive during a recall wait for the same recall. */
  async #recallFor(waiters: readonly Waiter[], nowMs: number): Promise<void> {
    for (const waiter of waiters) waiter.hasRecalled = true
    if (this.#recall === null && this.#isRecallDue(nowMs)) {
      this.#recalledAtMs = nowMs
      this.#recall = this.#batcher.recall(this).finally(() => {
        this.#recall = null
      })
    }
    await this.#recall
    this.#waiting.unshift(...waiters)
    this.giveUp()
  }

  #refuseWaiter(waiter: Waiter, nowMs: number): void {
    const outcome = this.#refuse(waiter.units, nowMs)
    this.#refusedUnits = Math.min(this.#refusedUnits, waiter.units)
    this.#refusedUntilMs = nowMs + Math.min(PAUSE_MS, outcome.retryAfterMs)
    waiter.resolve(outcome)
  }

  #refuse(units: number, nowMs: number): RateOutcome & { readonly isTaken: false } {
    const missing = units * SCALE - this.#levelSeen
    const refilledAtMs = this.#visitedAtMs + Math.ceil(missing / this.#perMinute)
    // Units lent to other processes are missing until their loans end.
    const isRoomMissing = units > this.#perMinute - this.#lentElsewhere - this.#loan
    const enoughAtMs = isRoomMissing ? Math.max(refilledAtMs, this.#visitedAtMs + 2 * EPOCH_MS) : refilledAtMs
    return { isTaken: false, retryAfterMs: Math.max(1, enoughAtMs - nowMs) }
  }

  #changeLimit(perMinute: number, nowMs: number): void {
    this.#perMinute = perMinute
    this.#refusedUnits = Infinity
    this.#spare.add(this.#inHand, nowMs)
    this.#inHand = Math.min(0, this.#inHand)
  }

  /** Enough units to justify a visit; fewer wait for the next one. */
  #isSpareWorthIt(): boolean {
    return this.#spare.units * 4 > this.#loan
  }

  #isIdle(nowMs: number): boolean {
    return nowMs - this.#usedAtMs >= IDLE_MS && this.#waiting.length === 0
  }
}
