import { AppError } from '../../../kernel/app-error.ts'
import { ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import { Deadlines } from '../../../kernel/deadlines.ts'

export interface DrainLimits {
  /** How long, and for how many bytes of a stream, an answer is read after its client left. */
  readonly drainMsMax: number
  readonly drainBytesMax: number
  /** Concurrent drains in this process and per account. */
  readonly drainsMax: number
  readonly drainsPerAccountMax: number
}

/** The client left, the vendor bills, and the answer was not read to its end. Its cost is estimated. */
export class AbandonedWork extends ClientDisconnected {
  override readonly name = 'AbandonedWork'
}

export interface DrainObserver {
  /** How many drains are running now. */
  running(count: number): void
  /** A drain ended before the answer did. */
  abandoned(): void
}

export interface Drain {
  /** Called when the work ends, for whatever reason. May be called more than once. */
  end(): void
}

const NO_ROOM =
  'Too many requests of this account to models that reason were left or cancelled and are still running at their vendors. ' +
  'Try again when some of them have ended.'
/** When to look again whether there is room. */
export const NO_ROOM_RETRY_SECONDS = 5

interface RunningDrain {
  readonly accountId: string
  readonly abandon: () => void
}

const deadlines = new Deadlines()

/** Reads answers to their usage after their clients left, because a vendor bills them. */
export class Drains {
  readonly limits: DrainLimits
  readonly #observer: DrainObserver
  readonly #running = new Set<RunningDrain>()
  readonly #ofAccount = new Map<string, number>()
  #isStopped = false
  #onEnded: (() => void) | null = null

  constructor(limits: DrainLimits, observer: DrainObserver) {
    this.limits = limits
    this.#observer = observer
  }

  /** Calls `onAbandoned` when the time is over. If there are too many drains already, calls it at once and returns null. */
  begin(accountId: string, onAbandoned: () => void): Drain | null {
    const { drainMsMax, drainsMax, drainsPerAccountMax } = this.limits
    const ofAccount = this.#ofAccount.get(accountId) ?? 0
    const abandon = () => {
      this.#observer.abandoned()
      onAbandoned()
    }
    if (this.#isStopped || this.#running.size >= drainsMax || ofAccount >= drainsPerAccountMax) {
      abandon()
      return null
    }
    const running = { accountId, abandon }
    this.#running.add(running)
    this.#observer.running(this.#running.size)
    this.#ofAccount.set(accountId, ofAccount + 1)
    const deadline = deadlines.add(drainMsMax, abandon)
    return {
      end: () => {
        deadlines.cancel(deadline)
        this.#remove(running)
      },
    }
  }

  /**
   * Whether one more answer of the account can be read to its usage if its client leaves. Always true for an account whose answers
   * are not read, so that a limit of 0 refuses nothing.
   */
  hasRoom(accountId: string): boolean {
    const ofAccount = this.#ofAccount.get(accountId) ?? 0
    return ofAccount === 0 || ofAccount < this.limits.drainsPerAccountMax
  }

  requireRoom(accountId: string): void {
    if (this.hasRoom(accountId)) return
    throw new AppError('concurrency_limit_reached', NO_ROOM, { retryAfterSeconds: NO_ROOM_RETRY_SECONDS })
  }

  /** Stops all drains now. The cost of their answers is estimated. */
  stop(): void {
    this.#isStopped = true
    for (const { abandon } of this.#running) abandon()
  }

  /** Lets running drains finish for `graceMs`, then stops the rest. Resolves when no drain is running. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.stop(), graceMs)
    while (this.#running.size > 0)
      await new Promise<void>((resolve) => {
        this.#onEnded = resolve
      })
    clearTimeout(timer)
    this.#isStopped = true
  }

  #remove(running: RunningDrain): void {
    if (!this.#running.delete(running)) return
    this.#observer.running(this.#running.size)
    const left = (this.#ofAccount.get(running.accountId) ?? 1) - 1
    if (left > 0) this.#ofAccount.set(running.accountId, left)
    else this.#ofAccount.delete(running.accountId)
    if (this.#running.size === 0) this.#onEnded?.()
  }
}
