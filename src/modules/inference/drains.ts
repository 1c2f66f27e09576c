import { AppError, type ErrorCode } from '../../kernel/app-error.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import { Deadlines } from '../../kernel/deadlines.ts'

export interface DrainLimits {
  /** How long an answer whose client left is read on, and how many bytes of a stream. */
  readonly drainMsMax: number
  readonly drainBytesMax: number
  /** How many at once, in this process and of one account. */
  readonly drainsMax: number
  readonly drainsPerAccountMax: number
}

/** The client left, the vendor bills, and the answer was not read to its end: what it costs is estimated. */
export class AbandonedWork extends ClientDisconnected {
  override readonly name = 'AbandonedWork'
}

/**
 * Why work ends that a vendor bills to its end, at once. Null where it may be read on: only when nobody waits for an answer. A key
 * that was revoked in the middle saves its account nothing; a gateway that stops charges nobody for what it breaks off.
 */
export function abandonmentFor(reason: unknown): AbandonedWork | null {
  if (reason instanceof AbandonedWork) return reason
  const isRefused = reason instanceof AppError && REFUSED_CALLERS.has(reason.code)
  return isRefused ? new AbandonedWork('the caller is refused from now on', { cause: reason }) : null
}

const REFUSED_CALLERS: ReadonlySet<ErrorCode> = new Set(['invalid_api_key', 'account_suspended'])

export interface DrainObserver {
  /** So many are being read at this moment. */
  running(count: number): void
  /** One was not read to its end. */
  abandoned(): void
}

export interface Drain {
  /** When the work is over, however it ended. Once is enough. */
  end(): void
}

interface RunningDrain {
  readonly accountId: string
  readonly abandon: () => void
}

const deadlines = new Deadlines()

/** Answers that are read to their usage though nobody waits for them, because a vendor bills them. */
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

  /** `onAbandoned` is called when the time is over, and at once where there are too many already: then there is no drain. */
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

  /** The process does not wait any longer: whatever is being read is estimated from now on. */
  stop(): void {
    this.#isStopped = true
    for (const { abandon } of this.#running) abandon()
  }

  /** Lets what is being read end for so long, and estimates the rest. Resolves when nothing is being read. */
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
