import { EventSplitter, EventTooLarge } from '../streams/event-splitter.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import type { AnswerController } from './upstream-http1/post-dispatcher.ts'

const EVENT_BYTES_MAX = 4 * 1024 * 1024
/** Above this limit the upstream's socket is not read until the client has caught up. */
const QUEUED_BYTES_MAX = 256 * 1024
/** Time that an upstream has after its last event to end the answer, so that the connection can be reused. */
const LINGER_MS = 1_000

interface EventQueueOptions {
  readonly controller: AnswerController
  readonly provider: string
  /** Limits the time from the first bytes without an event to the first event. */
  readonly firstEventMs: number
  /** Limits the time from the first bytes without an event to the next event. Silence is limited by the connection. */
  readonly idleMs: number
  /** Called once when reading ends. */
  readonly onStop: () => void
}

type Batch = IteratorResult<readonly Buffer[], undefined>

/** Queue of event payloads between the upstream's socket and the consumer, with backpressure. */
export class EventQueue implements AsyncIterableIterator<readonly Buffer[], undefined> {
  readonly #options: EventQueueOptions
  readonly #splitter = new EventSplitter({ eventBytesMax: EVENT_BYTES_MAX })
  #queue: Buffer[] = []
  #queuedBytes = 0
  #isEnded = false
  /** Whether the last event was read before the upstream ended its answer. */
  #isFinished = false
  #hasEvents = false
  /** Runs while the upstream sends bytes but no events, such as comments. */
  #quietTimer: NodeJS.Timeout | undefined
  #lingering: NodeJS.Timeout | undefined
  #error: { reason: unknown } | null = null
  #waiting: { resolve: (batch: Batch) => void; reject: (reason: unknown) => void } | null = null

  constructor(options: EventQueueOptions) {
    this.#options = options
  }

  get isTerminated(): boolean {
    return this.#splitter.isDone || this.#isFinished
  }

  push(chunk: Buffer): void {
    if (this.#isEnded) return
    try {
      const payloads = this.#splitter.push(chunk)
      this.#noteProgress(payloads.length > 0)
      this.#enqueue(payloads)
    } catch (error) {
      this.#stop(this.#asUpstreamError(error))
      return
    }
    if (this.#splitter.isDone) this.finish()
    else if (this.#queuedBytes > QUEUED_BYTES_MAX) this.#options.controller.pause()
  }

  /** Ends the queue: no more events will come from the upstream. */
  end(): void {
    clearTimeout(this.#lingering)
    clearTimeout(this.#quietTimer)
    if (this.#isEnded) return
    this.#enqueue(this.#splitter.end())
    this.#isEnded = true
    this.#options.onStop()
    if (this.#queue.length === 0) this.#waiting?.resolve({ done: true, value: undefined })
    this.#waiting = null
  }

  fail(reason: unknown): void {
    clearTimeout(this.#lingering)
    clearTimeout(this.#quietTimer)
    if (this.#isEnded) return
    this.#isEnded = true
    this.#error = { reason }
    this.#options.onStop()
    this.#waiting?.reject(reason)
    this.#waiting = null
  }

  next(): Promise<Batch> {
    if (this.#queue.length > 0) return Promise.resolve({ done: false, value: this.#takeQueue() })
    if (this.#error) return Promise.reject(this.#error.reason)
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  /** Called when the consumer stops early. Aborts the upstream request. */
  return(): Promise<Batch> {
    if (!this.#isEnded)
      this.#stop(new UpstreamError(`${this.#options.provider}: no longer read`, this.#details('cut')))
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Called when the last event was read. Some upstreams keep the connection open after it. */
  finish(): void {
    this.#isFinished = true
    if (this.#isEnded) return
    this.end()
    const { controller, provider } = this.#options
    this.#lingering = setTimeout(() => {
      controller.abort(
        new UpstreamError(`${provider}: it did not end its answer`, this.#details('invalid_answer')),
      )
    }, LINGER_MS)
  }

  // A timer only starts with bytes that have no event, so that ordinary streams need none.
  #noteProgress(hasEvents: boolean): void {
    if (hasEvents) {
      this.#hasEvents = true
      if (this.#quietTimer === undefined) return
      clearTimeout(this.#quietTimer)
      this.#quietTimer = undefined
    } else if (this.#quietTimer === undefined && this.#queuedBytes <= QUEUED_BYTES_MAX) {
      const limitMs = this.#hasEvents ? this.#options.idleMs : this.#options.firstEventMs
      this.#quietTimer = setTimeout(() => {
        const message = `${this.#options.provider}: it sent no event for ${limitMs} ms`
        this.#stop(new UpstreamError(message, this.#details('timeout')))
      }, limitMs)
    }
  }

  #enqueue(payloads: Buffer[]): void {
    if (payloads.length === 0) return
    if (this.#waiting) {
      this.#waiting.resolve({ done: false, value: payloads })
      this.#waiting = null
      return
    }
    for (const payload of payloads) {
      this.#queue.push(payload)
      this.#queuedBytes += payload.length
    }
  }

  #takeQueue(): Buffer[] {
    const batch = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    if (!this.#isEnded && this.#options.controller.paused) this.#options.controller.resume()
    return batch
  }

  #stop(error: UpstreamError): void {
    if (this.#isEnded) return
    this.fail(error)
    this.#options.controller.abort(error)
  }

  #asUpstreamError(error: unknown): UpstreamError {
    if (!(error instanceof EventTooLarge)) throw error
    return new UpstreamError(`${this.#options.provider}: ${error.message}`, this.#details('invalid_answer'))
  }

  #details(failure: 'cut' | 'invalid_answer' | 'timeout') {
    return { failure, provider: this.#options.provider } as const
  }
}
