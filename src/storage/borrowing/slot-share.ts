/** What one visit at the pool asks. */
export interface SlotVisit {
  readonly id: string
  readonly capacity: number
  readonly held: number
  readonly busy: number
  readonly needed: number
  readonly wanted: number
}

/** How a share reaches its pool. */
export interface SlotDesk {
  visitSoon(share: SlotShare): void
  /** Makes the other processes give back what they do not use of it. */
  recall(share: SlotShare): Promise<void>
  /** False when the others may have taken this process for dead, and its slots with it. */
  isTrusted(): boolean
}

interface Waiter {
  /** A visit is under way, or over, that asked for it. */
  isAsked: boolean
  /** The others are giving back for it, or have done so. */
  hasRecalled: boolean
  readonly resolve: (isTaken: boolean) => void
  readonly reject: (error: unknown) => void
}

const SLOTS_AT_LEAST = 16
/** Long, because who needs what lies idle here recalls it; giving back and borrowing anew costs more than keeping. */
const IDLE_MS = 300_000
const PAUSE_MS = 50
const RECALL_PAUSE_MS = 250
const WAITERS_MAX = 10_000

/** Slots of a shared pool that this process has borrowed, used in memory and given back when nobody uses them. */
export class SlotShare {
  readonly id: string
  readonly #batcher: SlotDesk
  #capacity: number
  #loan = 0
  #inUse = 0
  #isVisiting = false
  #isGivingUp = false
  #isRecalling = false
  #waiting: Waiter[] = []
  #usedAtMs = 0
  #topUpAfterMs = 0
  #refusedUntilMs = 0
  #recalledAtMs = Number.NEGATIVE_INFINITY

  constructor(id: string, capacity: number, batcher: SlotDesk) {
    this.id = id
    this.#capacity = capacity
    this.#batcher = batcher
  }

  get loan(): number {
    return this.#loan
  }

  get isVisiting(): boolean {
    return this.#isVisiting
  }

  /** False when none is in hand: then `take` asks the pool. */
  takeNow(capacity: number, nowMs: number): boolean {
    if (this.#inUse >= this.#loan || this.#inUse >= capacity) return false
    if (capacity !== this.#capacity || !this.#batcher.isTrusted()) return false
    this.#inUse += 1
    this.#usedAtMs = nowMs
    const isLow = (this.#loan - this.#inUse) * 4 < this.#loan
    if (isLow && !this.#isVisiting && nowMs >= this.#topUpAfterMs) this.#batcher.visitSoon(this)
    return true
  }

  /** Whether there was one. At once, when there was none a moment ago. */
  take(capacity: number, nowMs: number): boolean | Promise<boolean> {
    if (capacity === this.#capacity && nowMs < this.#refusedUntilMs) return false
    if (this.#waiting.length >= WAITERS_MAX) return false
    this.#capacity = capacity
    this.#usedAtMs = nowMs
    return new Promise((resolve, reject) => {
      this.#waiting.push({ isAsked: false, hasRecalled: false, resolve, reject })
      if (!this.#isVisiting) this.#batcher.visitSoon(this)
    })
  }

  release(): void {
    this.#inUse -= 1
    this.#refusedUntilMs = 0
    this.#serve()
    if (this.#loan > this.#capacity && !this.#isVisiting) this.#batcher.visitSoon(this)
  }

  isDue(nowMs: number): boolean {
    return !this.#isVisiting && this.#loan > this.#inUse && this.#isIdle(nowMs)
  }

  isForgettable(nowMs: number): boolean {
    const isEmpty = this.#loan === 0 && this.#inUse === 0 && this.#waiting.length === 0
    return isEmpty && !this.#isVisiting && this.#isIdle(nowMs)
  }

  /** The next visit gives back every slot that is not in use. */
  giveUp(): void {
    this.#isGivingUp = true
    if (!this.#isVisiting) this.#batcher.visitSoon(this)
  }

  /** What was borrowed is gone; what runs goes on and is counted again by the next visit. */
  lose(): void {
    this.#loan = this.#inUse
    if (this.#inUse > 0 && !this.#isVisiting) this.#batcher.visitSoon(this)
  }

  beginVisit(nowMs: number): SlotVisit {
    // Lowered before it is told, so that nobody here takes what is on its way back.
    if (this.#isGivingUp || this.#isIdle(nowMs) || this.#loan > this.#capacity) this.#loan = this.#inUse
    const isAsking = !this.#isGivingUp && !this.#isIdle(nowMs)
    this.#isVisiting = true
    this.#isGivingUp = false
    for (const waiter of this.#waiting) waiter.isAsked = true
    return {
      id: this.id,
      capacity: this.#capacity,
      held: this.#loan,
      busy: this.#inUse,
      needed: this.#waiting.length,
      wanted: isAsking ? Math.max(SLOTS_AT_LEAST, this.#inUse) : 0,
    }
  }

  endVisit({ slots, lentInAll }: { slots: number; lentInAll: number }, nowMs: number): void {
    this.#isVisiting = false
    this.#topUpAfterMs = nowMs + PAUSE_MS
    this.#loan = slots
    this.#serve()
    const isRecallable = lentInAll > slots && this.#mayRecall(nowMs)
    for (const waiter of this.#waiting.splice(0)) {
      const isHopeful = waiter.hasRecalled ? this.#isRecalling : isRecallable
      if (waiter.isAsked && !isHopeful) {
        this.#refusedUntilMs = nowMs + PAUSE_MS
        waiter.resolve(false)
        continue
      }
      waiter.hasRecalled ||= waiter.isAsked
      this.#waiting.push(waiter)
    }
    if (!this.#isRecalling && this.#waiting.some(({ isAsked }) => isAsked)) void this.#recall(nowMs)
    if (this.#isGivingUp || this.#waiting.some(({ isAsked }) => !isAsked)) this.#batcher.visitSoon(this)
  }

  /** What was asked is absolute: the next visit puts right whatever the pool made of this one. */
  failVisit(error: unknown, nowMs: number): void {
    this.#isVisiting = false
    this.#topUpAfterMs = nowMs + RECALL_PAUSE_MS
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error)
  }

  #serve(): void {
    while (this.#inUse < this.#loan && this.#inUse < this.#capacity) {
      const waiter = this.#waiting.shift()
      if (!waiter) return
      this.#inUse += 1
      waiter.resolve(true)
    }
  }

  /** Who comes while the others are giving back waits for that too. */
  #mayRecall(nowMs: number): boolean {
    return this.#isRecalling || nowMs - this.#recalledAtMs >= RECALL_PAUSE_MS
  }

  async #recall(nowMs: number): Promise<void> {
    this.#isRecalling = true
    this.#recalledAtMs = nowMs
    await this.#batcher.recall(this)
    this.#isRecalling = false
    // A visit that is under way may have come before what was given back: those it does not serve ask once more.
    for (const waiter of this.#waiting) waiter.isAsked = false
    if (this.#waiting.length > 0 && !this.#isVisiting) this.#batcher.visitSoon(this)
  }

  #isIdle(nowMs: number): boolean {
    return nowMs - this.#usedAtMs >= IDLE_MS && this.#waiting.length === 0
  }
}
