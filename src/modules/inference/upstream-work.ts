import { Cancellation } from '../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import { Deadlines, type Deadline } from '../../kernel/deadlines.ts'
import { AbandonedWork, abandonmentFor, type Drain, type Drains } from './drains.ts'

interface UpstreamWorkOptions {
  /** Of the request. */
  readonly parent: Cancellation
  readonly durationMs: number
  readonly expired: () => Error
  readonly accountId: string
  readonly drains: Drains
  /** Whether the upstream bills what nobody waits for. */
  readonly isBilledWhenLeft: boolean
  readonly onRelease?: (() => void) | undefined
}

const deadlines = new Deadlines()

/**
 * What an upstream does for one attempt. It ends by itself after a while: an upstream that sends a comment or a byte now and
 * then is never idle, and would otherwise hold its request for ever. It ends with its request, unless the client left while a
 * vendor works on it that bills to the end: then the answer is read on for some time, to learn what it cost.
 */
export class UpstreamWork {
  readonly cancellation = new Cancellation()
  readonly #options: UpstreamWorkOptions
  readonly #deadline: Deadline
  #isBilledWhenLeft: boolean
  #sentAtMs: number | null = null
  #drain: Drain | null = null
  #isLeft = false

  constructor(options: UpstreamWorkOptions) {
    this.#options = options
    this.#isBilledWhenLeft = options.isBilledWhenLeft
    this.#deadline = deadlines.add(options.durationMs, () => this.cancellation.cancel(options.expired()))
    options.parent.onCancel(this.leave)
  }

  /** By `performance.now()`; null before the upstream can have begun to read the request. */
  get sentAtMs(): number | null {
    return this.#sentAtMs
  }

  readonly noteSent = (): void => {
    this.#sentAtMs ??= performance.now()
  }

  /** From here on everything that is billed is seen as it comes: whoever leaves ends the work. */
  stopWhenLeft(): void {
    this.#isBilledWhenLeft = false
    if (this.#drain !== null) this.cancellation.cancel(new AbandonedWork('the client left a stream'))
  }

  /** The request was cancelled, or nobody reads its answer. */
  readonly leave = (reason: unknown): void => {
    if (this.#isLeft) return
    this.#isLeft = true
    const isBilled = this.#isBilledWhenLeft && this.#sentAtMs !== null
    const abandonment = abandonmentFor(reason)
    if (abandonment !== null) {
      // What nobody bills costs what came of it.
      this.cancellation.cancel(isBilled ? abandonment : asLeft(reason))
      return
    }
    if (!isBilled || !(reason instanceof ClientDisconnected)) {
      this.cancellation.cancel(reason)
      return
    }
    const abandon = () => this.cancellation.cancel(new AbandonedWork('the client left and nobody reads on'))
    this.#drain = this.#options.drains.begin(this.#options.accountId, abandon)
  }

  /** When the work is over, however it ended. */
  release(): void {
    deadlines.cancel(this.#deadline)
    this.#options.parent.offCancel(this.leave)
    this.#drain?.end()
    this.#options.onRelease?.()
  }
}

function asLeft(reason: unknown): unknown {
  if (!(reason instanceof AbandonedWork)) return reason
  return new ClientDisconnected(reason.message, { cause: reason.cause })
}
