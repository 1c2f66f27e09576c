/** One request to the pool. */
export interface SlotVisit {
  readonly id: string
  readonly capacity: number
  readonly held: number
  readonly busy: number
  readonly needed: number
  readonly wanted: number
}

/** The connection of a share to its pool in the database. */
export interface SlotDesk {
  visitSoon(share: SlotShare): void
  /** Makes the other processes give back slots that they do not use. */
  recall(share: SlotShare): Promise<void>
  /** False if the others may have declared this process dead and taken its slots. */
  isTrusted(): boolean
}

interface Waiter {
  /** Whether a running or finished visit asked for this slot. */
  isAsked: boolean
  /** Whether a recall for this slot is running or finished. */
  hasRecalled: boolean
  readonly resolve: (isTaken: boolean) => void
  readonly reject: (error: unknown) => void
}

const SLOTS_AT_LEAST = 16
/** Long, because other processes recall idle slots when they need them, and borrowing again costs more than keeping. */
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

  /** Returns false if no slot is free in memory; then `take` asks the pool. */
  takeNow(capacity: number, nowMs: number): boolean {
    if (this.#inUse >= this.#loan || this.#inUse >= capacity) return false
    if (capacity !== this.#capacity || !this.#batcher.isTrusted()) return false
    this.#inUse += 1
    this.#usedAtMs = nowMs
    const isLow = (this.#loan - this.#inUse) * 4 < this.#loan
    if (isLow && !this.#isVisiting && nowMs >= this.#topUpAfterMs) this.#batcher.visitSoon(this)
    return true
  }

  /** Returns whether a slot was free. Refuses without a visit if there was none a moment ago. */
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

  /** The loans are gone. Running work continues, and the next visit counts it again. */
  lose(): void {
    this.#loan = this.#inUse
    if (this.#inUse > 0 && !this.#isVisiting) this.#batcher.visitSoon(this)
  }

  beginVisit(nowMs: number): SlotVisit {
    // Lowered before the visit, so that no request takes a slot that is being given back.
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

  /** Visits send absolute numbers, so the next one corrects whatever this one did. */
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

  /** Requests that arrive during a recall wait for the same recall. */
  #mayRecall(nowMs: number): boolean {
    return this.#isRecalling || nowMs - this.#recalledAtMs >= RECALL_PAUSE_MS
  }

  async #recall(nowMs: number): Promise<void> {
    this.#isRecalling = true
    this.#recalledAtMs = nowMs
    await this.#batcher.recall(this)
    this.#isRecalling = false
    // A running visit may have missed slots that were just given back, so unserved requests ask once more.
    for (const waiter of this.#waiting) waiter.isAsked = false
    if (this.#waiting.length > 0 && !this.#isVisiting) this.#batcher.visitSoon(this)
  }

  #isIdle(nowMs: number): boolean {
    return nowMs - this.#usedAtMs >= IDLE_MS && this.#waiting.length === 0
  }
}
