import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { Deadlines, type Deadline } from '../../kernel/deadlines.ts'
import { createId } from '../../kernel/identifiers.ts'
import { BackgroundSlots, type GiveWay } from './background-slots.ts'
import type { QueueDesk, QueuedSlot, QueueRefusal, SlotQueueLimits } from './queue-desk.ts'

interface Waiter {
  readonly resolve: (outcome: QueuedSlot | QueueRefusal) => void
  readonly reject: (error: unknown) => void
  readonly deadline: Deadline
  readonly cancellation: Cancellation
  readonly leave: (reason: unknown) => void
}

const IDLE_MS = 5_000
/** After so long without a request there is nothing to remember of a queue. */
const FORGOTTEN_MS = 600_000
const WAIT_GUESS_MS = 1_000

/**
 * The slots of a pool that this process holds, and its waiting requests. While no process has waiting requests, a released
 * slot stays here for the next one. Otherwise it returns to the pool, which decides who is next.
 */
export class SlotQueue {
  readonly id: string
  readonly limits: SlotQueueLimits
  readonly #batcher: QueueDesk
  readonly #deadlines = new Deadlines()
  readonly #waiters = new Map<string, Waiter>()
  #inUse = 0
  #idle = 0
  #isContended = false
  /** Grants that the pool may forget: taken note of here, or no longer wanted. */
  #noted: string[] = []
  #serves = 0
  #servedMs = 0
  #serviceMs = 0
  #reported = 0
  #usedAtMs = 0
  #isReporting = false
  #isReportDue = false
  /** Waiting requests of all processes, as far as it is known. */
  #waitingInAll = 0
  readonly #background = new BackgroundSlots<QueuedSlot | QueueRefusal>()

  constructor(id: string, limits: SlotQueueLimits, batcher: QueueDesk) {
    this.id = id
    this.limits = limits
    this.#batcher = batcher
  }

  acquire(accountId: string, cancellation: Cancellation): QueuedSlot | Promise<QueuedSlot | QueueRefusal> {
    if (this.#idle === 0 || this.#isContended || !this.#batcher.isTrusted())
      return this.#enter(accountId, cancellation)
    this.#idle -= 1
    return this.#use()
  }

  /** For work that gets a slot while nobody else wants one, and ends when `giveWay` is called because somebody waits. */
  acquireInBackground(
    giveWay: GiveWay,
    cancellation: Cancellation,
  ): QueuedSlot | Promise<QueuedSlot | QueueRefusal> {
    if (this.#idle > 0 && !this.#isContended && this.#batcher.isTrusted()) {
      this.#idle -= 1
      return this.#use(giveWay)
    }
    const { waitMsMax } = this.limits
    const onLate = (): QueueRefusal => this.#refuse('timeout', this.#background.waiting)
    const slot = this.#background.wait(giveWay, { cancellation, waitMsMax, onLate })
    this.reportSoon()
    return slot
  }

  /** Passes a granted slot to its waiter. If the waiter has left, the slot goes to the next one. */
  grant(waiterId: string): void {
    const waiter = this.#waiters.get(waiterId)
    if (this.#noted.includes(waiterId)) return
    this.#noted.push(waiterId)
    if (waiter) {
      this.#forget(waiterId, waiter)
      waiter.resolve(this.#use())
    } else this.reportSoon()
  }

  displace(waiterId: string): void {
    const waiter = this.#waiters.get(waiterId)
    if (!waiter) return
    this.#forget(waiterId, waiter)
    waiter.resolve(this.#refuse('full', this.#waiters.size))
  }

  /** Called when some process has a waiting request. */
  noteWaiters(waiting = 1): void {
    this.#isContended = true
    this.#waitingInAll = Math.max(waiting, this.#waitingInAll)
    if (this.#idle > 0) this.reportSoon()
    this.#background.makeWay(() => (this.#isContended ? this.#waitingInAll : 0))
  }

  /** The pool has dropped this process. Running work continues, and the next report counts it again. */
  lose(): void {
    this.#idle = 0
    this.#noted = []
    const lost = new AppError('service_unavailable', 'The place in the queue was lost. Try again.', {
      retryAfterSeconds: 1,
    })
    for (const [id, waiter] of this.#waiters) {
      this.#forget(id, waiter)
      waiter.reject(lost)
    }
    this.#background.failAll(lost)
  }

  tick(nowMs: number): void {
    const isIdle = this.#idle > 0 && nowMs - this.#usedAtMs >= IDLE_MS
    if (isIdle) this.#idle = 0
    // Messages can be lost, so a queue with waiters, or one that blocks others, polls now and then.
    const isWatched =
      this.#background.waiting > 0 || this.#waiters.size > 0 || (this.#isContended && this.#inUse > 0)
    if (isIdle || isWatched || this.#noted.length > 0 || this.#inUse !== this.#reported) this.reportSoon()
  }

  /** Whether nothing is known here that another instance of the queue would need. */
  isForgettable(nowMs: number): boolean {
    const isQuiet =
      this.#inUse === 0 && this.#idle === 0 && this.#waiters.size === 0 && this.#noted.length === 0
    return (
      isQuiet &&
      this.#background.waiting === 0 &&
      !this.#isReporting &&
      this.#reported === 0 &&
      nowMs - this.#usedAtMs >= FORGOTTEN_MS
    )
  }

  /** Gives back every slot that is not in use. */
  async close(): Promise<void> {
    this.#idle = 0
    await this.#report()
  }

  reportSoon(): void {
    this.#isReportDue = true
    if (!this.#isReporting) void this.#report()
  }

  #enter(accountId: string, cancellation: Cancellation): Promise<QueuedSlot | QueueRefusal> {
    cancellation.throwIfCancelled()
    const waiterId = createId()
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => this.#leave(waiterId, () => reject(reason))
      const deadline = this.#deadlines.add(this.limits.waitMsMax, () =>
        this.#leave(waiterId, () => resolve(this.#refuse('timeout', this.#waiters.size))),
      )
      // Registered before the pool is asked, because its message can arrive before its response.
      this.#waiters.set(waiterId, { resolve, reject, deadline, cancellation, leave })
      cancellation.onCancel(leave)
      void this.#line(waiterId, accountId)
    })
  }

  async #line(waiterId: string, accountId: string): Promise<void> {
    try {
      const { outcome, waiting, serviceMs } = await this.#batcher.enter(this, waiterId, accountId)
      this.#serviceMs = serviceMs
      if (outcome === 'granted') this.grant(waiterId)
      if (outcome === 'full') this.displace(waiterId)
      if (waiting > 0) this.noteWaiters(waiting)
    } catch (error) {
      this.#waiters.get(waiterId)?.leave(error)
    }
  }

  #leave(waiterId: string, answer: () => void): void {
    const waiter = this.#waiters.get(waiterId)
    if (!waiter) return
    this.#forget(waiterId, waiter)
    this.#noted.push(waiterId)
    this.reportSoon()
    answer()
  }

  #forget(waiterId: string, { deadline, cancellation, leave }: Waiter): void {
    this.#waiters.delete(waiterId)
    this.#deadlines.cancel(deadline)
    cancellation.offCancel(leave)
  }

  #use(giveWay?: GiveWay): QueuedSlot {
    const startedMs = performance.now()
    let isReleased = false
    this.#inUse += 1
    this.#usedAtMs = startedMs
    if (giveWay !== undefined) this.#background.begin(giveWay)
    return {
      isGranted: true,
      release: () => {
        if (isReleased) return
        isReleased = true
        if (giveWay !== undefined) this.#background.end(giveWay)
        this.#inUse -= 1
        this.#serves += 1
        this.#usedAtMs = performance.now()
        this.#servedMs += Math.round(this.#usedAtMs - startedMs)
        if (this.#isContended) this.reportSoon()
        else this.#keepIdle(1)
      },
    }
  }

  /** Slots that nobody waits for. */
  #keepIdle(slots: number): void {
    this.#idle += slots
    while (this.#idle > 0 && !this.#isContended && this.#background.waiting > 0) {
      this.#idle -= 1
      this.#background.serve((giveWay) => this.#use(giveWay))
    }
  }

  /** Estimated from the average time of the requests ahead. */
  #refuse(reason: QueueRefusal['reason'], waiting: number): QueueRefusal {
    const serviceMs = this.#serviceMs || WAIT_GUESS_MS
    const retryAfterMs = (serviceMs * Math.max(1, waiting)) / Math.max(1, this.limits.slots)
    return { isGranted: false, reason, retryAfterMs: Math.max(WAIT_GUESS_MS, retryAfterMs) }
  }

  /** One report at a time: each has the absolute number of slots, so the latest must arrive last. */
  async #report(): Promise<void> {
    this.#isReporting = true
    this.#isReportDue = false
    // Lowered before the report is sent, so that no request takes a slot that is being given back.
    if (this.#isContended) this.#idle = 0
    const { noted, serves, servedMs } = { noted: this.#noted, serves: this.#serves, servedMs: this.#servedMs }
    this.#noted = []
    this.#serves = 0
    this.#servedMs = 0
    this.#reported = this.#inUse
    try {
      const held = this.#inUse + this.#idle
      const needed = this.#isContended ? 0 : this.#background.waiting
      const figures = { held, busy: this.#inUse, noted, needed, serves, servedMs }
      const answer = await this.#batcher.report(this, figures)
      this.#isContended = answer.waiting > 0
      this.#waitingInAll = answer.waiting
      this.#serviceMs = answer.serviceMs
      for (const waiterId of answer.granted) this.grant(waiterId)
      if (this.#isContended) this.noteWaiters(answer.waiting)
      else if (needed > 0) this.#keepIdle(Math.max(0, answer.slots - held - answer.granted.length))
    } catch {
      // The next tick reports again; requests for a slot see the outage.
      this.#noted = [...noted, ...this.#noted]
      this.#serves += serves
      this.#servedMs += servedMs
      this.#isReportDue = false
    }
    this.#isReporting = false
    if (this.#isReportDue) void this.#report()
  }
}
