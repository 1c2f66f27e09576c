/** One slot in use. Releasing it again does nothing. */
export interface QueuedSlot {
  readonly isGranted: true
  release(): void
}

/** The request could not get a slot: the queue is full, or it waited too long. */
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

/** A process's report to a pool: the slots it holds, and how many of them are in use. */
interface PoolReport {
  readonly held: number
  readonly busy: number
  readonly noted: readonly string[]
  /** How many more slots it takes if nobody waits. */
  readonly needed: number
  readonly serves: number
  readonly servedMs: number
}

interface PoolAnswer {
  /** What this process has now, with what was granted and needed. */
  readonly slots: number
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

/** A queue, as its pool knows it. */
interface QueueName {
  readonly id: string
  readonly limits: SlotQueueLimits
}

/** The connection of a queue to its pool in the database. */
export interface QueueDesk {
  enter(queue: QueueName, waiterId: string, accountId: string): Promise<EnteredQueue>
  report(queue: QueueName, report: PoolReport): Promise<PoolAnswer>
  isTrusted(): boolean
}
