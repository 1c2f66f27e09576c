import { AppError, type ErrorCode } from '../../kernel/app-error.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import { Deadlines } from '../../kernel/deadlines.ts'

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

/**
 * Returns why billed work must stop at once with an estimated charge, or null. An account whose key was revoked during a request
 * still pays for the work. Work that a shutdown stops has no estimated charge.
 */
export function abandonmentFor(reason: unknown): AbandonedWork | null {
  if (reason instanceof AbandonedWork) return reason
  const isRefused = reason instanceof AppError && REFUSED_CALLERS.has(reason.code)
  return isRefused ? new AbandonedWork('the caller is refused from now on', { cause: reason }) : null
}

const REFUSED_CALLERS: ReadonlySet<ErrorCode> = new Set(['invalid_api_key', 'account_suspended'])

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
