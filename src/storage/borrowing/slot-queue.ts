import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { Deadlines, type Deadline } from '../../kernel/deadlines.ts'
import { createId } from '../../kernel/identifiers.ts'

/** One slot in use. Released once, however often it is called. */
export interface QueuedSlot {
  readonly isGranted: true
  release(): void
}

/** Nobody could be served in time: the queue is full, or did not move for so long. */
export interface QueueRefusal {
  readonly isGranted: false
  readonly reason: 'full' | 'timeout'
  readonly retryAfterMs: number
}

export interface SlotQueueLimits {
  readonly slots: number
  readonly waitersMax: number
  readonly waitMsMax: number
}

/** What a process tells a pool: how many slots it holds, and how many of them work. */
interface PoolReport {
  readonly held: number
  readonly busy: number
  readonly noted: readonly string[]
  readonly serves: number
  readonly servedMs: number
}

interface PoolAnswer {
  readonly waiting: number
  /** Waiters of this process that have a slot and were not noted yet. */
  readonly granted: readonly string[]
  readonly serviceMs: number
}

export interface EnteredQueue {
  readonly outcome: 'granted' | 'waiting' | 'full'
  readonly waiting: number
  readonly serviceMs: number
}

/** How a queue reaches its pool. */
export interface QueueDesk {
  enter(queue: SlotQueue, waiterId: string, accountId: string): Promise<EnteredQueue>
  report(queue: SlotQueue, report: PoolReport): Promise<PoolAnswer>
  isTrusted(): boolean
}

interface Waiter {
  readonly resolve: (outcome: QueuedSlot | QueueRefusal) => void
  readonly reject: (error: unknown) => void
  readonly deadline: Deadline
  readonly cancellation: Cancellation
  readonly leave: (reason: unknown) => void
}

const IDLE_MS = 5_000
const WAIT_GUESS_MS = 1_000

/**
 * The slots of a pool that this process uses, and those here who wait for one. While nobody waits anywhere, a slot that
 * is released stays here for the next request; as soon as somebody does, it goes back to the pool, which knows whose
 * turn it is.
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

  /** A slot that a waiter here was given. One that is no longer wanted goes on to the next. */
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

  /** Somebody waits somewhere. */
  noteWaiters(): void {
    this.#isContended = true
    if (this.#idle > 0) this.reportSoon()
  }

  /** The pool does not know this process any more. What runs goes on and is counted again by the next report. */
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
  }

  tick(nowMs: number): void {
    const isIdle = this.#idle > 0 && nowMs - this.#usedAtMs >= IDLE_MS
    if (isIdle) this.#idle = 0
    // Messages can be missed: who waits, or makes others wait, looks now and then.
    const isWatched = this.#waiters.size > 0 || (this.#isContended && this.#inUse > 0)
    if (isIdle || isWatched || this.#noted.length > 0 || this.#inUse !== this.#reported) this.reportSoon()
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
      // Known before the pool is asked: its message can overtake its answer.
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
      if (waiting > 0) this.noteWaiters()
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

  #use(): QueuedSlot {
    const startedMs = performance.now()
    let isReleased = false
    this.#inUse += 1
    this.#usedAtMs = startedMs
    return {
      isGranted: true,
      release: () => {
        if (isReleased) return
        isReleased = true
        this.#inUse -= 1
        this.#serves += 1
        this.#usedAtMs = performance.now()
        this.#servedMs += Math.round(this.#usedAtMs - startedMs)
        if (this.#isContended) this.reportSoon()
        else this.#idle += 1
      },
    }
  }

  /** As long as those before it will take, by what one took on average. */
  #refuse(reason: QueueRefusal['reason'], waiting: number): QueueRefusal {
    const serviceMs = this.#serviceMs || WAIT_GUESS_MS
    const retryAfterMs = (serviceMs * Math.max(1, waiting)) / Math.max(1, this.limits.slots)
    return { isGranted: false, reason, retryAfterMs: Math.max(WAIT_GUESS_MS, retryAfterMs) }
  }

  /** One at a time: each says how many slots are held, and the last one must be the last that is heard. */
  async #report(): Promise<void> {
    this.#isReporting = true
    this.#isReportDue = false
    // Lowered before it is told, so that nobody here takes what is on its way back.
    if (this.#isContended) this.#idle = 0
    const { noted, serves, servedMs } = { noted: this.#noted, serves: this.#serves, servedMs: this.#servedMs }
    this.#noted = []
    this.#serves = 0
    this.#servedMs = 0
    this.#reported = this.#inUse
    try {
      const held = this.#inUse + this.#idle
      const answer = await this.#batcher.report(this, { held, busy: this.#inUse, noted, serves, servedMs })
      this.#isContended = answer.waiting > 0
      this.#serviceMs = answer.serviceMs
      for (const waiterId of answer.granted) this.grant(waiterId)
    } catch {
      // Said again with the next tick: an outage is told to those who ask for a slot.
      this.#noted = [...noted, ...this.#noted]
      this.#serves += serves
      this.#servedMs += servedMs
      this.#isReportDue = false
    }
    this.#isReporting = false
    if (this.#isReportDue) void this.#report()
  }
}
