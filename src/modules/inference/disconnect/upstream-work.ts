import { Cancellation } from '../../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import { Deadlines, type Deadline } from '../../../kernel/deadlines.ts'
import { AbandonedWork, type Drain, type Drains } from './drains.ts'

interface UpstreamWorkOptions {
  /** The request's cancellation. */
  readonly parent: Cancellation
  readonly durationMs: number
  readonly expired: () => Error
  readonly accountId: string
  readonly drains: Drains
  /** Whether the upstream bills work after the client left. */
  readonly isBilledAfterDisconnect: boolean
  readonly onRelease?: (() => void) | undefined
}

const deadlines = new Deadlines()
/** After two turns of the event loop, each socket was read once. */
const QUIET_TURNS_MIN = 2
/** A vendor that sends faster than it is read is not read for ever. */
const QUIET_TURNS_MAX = 64

/**
 * The work of an upstream for one attempt. It has a deadline: an upstream that sends a comment or a byte now and then is never
 * idle and would otherwise hold its request forever. It ends with its request, unless the client left while a vendor works that
 * bills to the end: then the answer is read for some more time to learn its cost.
 */
export class UpstreamWork {
  readonly cancellation = new Cancellation()
  readonly #options: UpstreamWorkOptions
  readonly #deadline: Deadline
  #isBilledAfterDisconnect: boolean
  /** Whether everything that is billed is visible in the stream. */
  #isSeenWhole = false
  /** Counts what was read of the answer. */
  #reads = 0
  #isReleased = false
  #sentAtMs: number | null = null
  #drain: Drain | null = null
  #isLeft = false
  #onEnd: (() => void) | null = null

  constructor(options: UpstreamWorkOptions) {
    this.#options = options
    this.#isBilledAfterDisconnect = options.isBilledAfterDisconnect
    this.#deadline = deadlines.add(options.durationMs, this.#onExpired)
    options.parent.onCancel(this.leave)
  }

  /** By `performance.now()`. Null before the upstream can have begun to read the request. */
  get sentAtMs(): number | null {
    return this.#sentAtMs
  }

  readonly noteSent = (): void => {
    this.#sentAtMs ??= performance.now()
  }

  /** Registers what is called when the work is over. One listener is enough for a provider. */
  readonly onEnd = (listener: () => void): void => {
    this.#onEnd = listener
  }

  /** From now on everything that is billed is visible in the stream: when the client leaves, the work stops. */
  stopWhenLeft(): void {
    this.#isBilledAfterDisconnect = false
    this.#isSeenWhole = true
    if (this.#drain !== null) this.cancellation.cancel(new AbandonedWork('the client left a stream'))
  }

  /** Called for each part of the answer that was read. */
  noteRead(): void {
    this.#reads += 1
  }

  /** Called when the request is cancelled, or when its answer is no longer read. */
  readonly leave = (reason: unknown): void => {
    if (this.#isLeft) return
    this.#isLeft = true
    const isBilled = this.#isBilledAfterDisconnect && this.#sentAtMs !== null
    if (reason instanceof AbandonedWork) {
      // Work that is not billed costs only what was delivered.
      this.cancellation.cancel(isBilled ? reason : asLeft(reason))
      return
    }
    if (this.#isSeenWhole && reason instanceof ClientDisconnected) {
      this.#stopWhenRead(reason)
      return
    }
    if (!isBilled || !(reason instanceof ClientDisconnected)) {
      this.cancellation.cancel(reason)
      return
    }
    this.#drain = this.#options.drains.begin(this.#options.accountId, this.#abandon)
  }

  /** The vendor bills what it has sent. So what has arrived is read before the stream is closed. */
  #stopWhenRead(reason: ClientDisconnected): void {
    let readsBefore = -1
    let turns = 0
    const look = (): void => {
      if (this.#isReleased) return
      const isRead = turns >= QUIET_TURNS_MIN && this.#reads === readsBefore
      if (isRead || turns === QUIET_TURNS_MAX) return this.cancellation.cancel(reason)
      readsBefore = this.#reads
      turns += 1
      setImmediate(look)
    }
    look()
  }

  readonly #abandon = (): void => {
    this.cancellation.cancel(new AbandonedWork('the client left and nobody reads on'))
  }

  // A failure costs nothing, and whoever leaves work shortly before its deadline must not get it for nothing.
  readonly #onExpired = (): void => {
    if (this.#drain === null) this.cancellation.cancel(this.#options.expired())
    else this.#abandon()
  }

  /** Called when the work ends, for whatever reason. */
  release(): void {
    this.#isReleased = true
    deadlines.cancel(this.#deadline)
    this.#options.parent.offCancel(this.leave)
    this.#drain?.end()
    this.#options.onRelease?.()
    this.#onEnd?.()
  }
}

function asLeft({ message, cause }: AbandonedWork): ClientDisconnected {
  return new ClientDisconnected(message, { cause })
}
