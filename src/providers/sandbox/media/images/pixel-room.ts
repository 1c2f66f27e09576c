import { UpstreamError } from '../../../failures/upstream-error.ts'

/** Maximum number of pixels that one request may decode and create, about 130 MB. */
export const REQUEST_PIXELS_MAX = 32 * 1024 * 1024
/** Maximum number of pixels that all requests of this process may have decoded at the same time. */
const PROCESS_PIXELS_MAX = 48 * 1024 * 1024
const WAITING_MAX = 64
const RETRY_AFTER_SECONDS = 5

interface Waiter {
  readonly pixels: number
  readonly enter: () => void
}

/**
 * Limits the pixels that are decoded at the same time: an image of a few kilobytes can have hundreds of megabytes of pixels.
 * Requests wait in order of arrival, and are refused if the queue is full.
 */
export class PixelRoom {
  readonly #pixelsMax: number
  readonly #waitingMax: number
  readonly #waiting: Waiter[] = []
  #pixels = 0

  constructor({ pixelsMax = PROCESS_PIXELS_MAX, waitingMax = WAITING_MAX } = {}) {
    this.#pixelsMax = pixelsMax
    this.#waitingMax = waitingMax
  }

  /** Number of pixels that are decoded now. */
  get pixels(): number {
    return this.#pixels
  }

  async use<Result>(pixels: number, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(pixels, signal)
    try {
      return await work()
    } finally {
      this.#pixels -= pixels
      this.#admit()
    }
  }

  #enter(pixels: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#waiting.length === 0 && this.#fits(pixels)) {
      this.#pixels += pixels
      return Promise.resolve()
    }
    if (this.#waiting.length >= this.#waitingMax) throw tooBusy()
    return new Promise((resolve, reject) => {
      const leave = () => {
        const index = this.#waiting.indexOf(waiter)
        if (index !== -1) this.#waiting.splice(index, 1)
        reject(signal.reason)
        this.#admit()
      }
      const waiter: Waiter = {
        pixels,
        enter: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiter)
    })
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.pixels); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#pixels += next.pixels
      next.enter()
    }
  }

  /** A request that is larger than the limit runs alone. */
  #fits(pixels: number): boolean {
    return this.#pixels === 0 || this.#pixels + pixels <= this.#pixelsMax
  }
}

/** One for the whole process, because the memory belongs to the process. */
export const sharedPixelRoom = new PixelRoom()

function tooBusy(): UpstreamError {
  return new UpstreamError('sandbox: too many pictures are worked on', {
    failure: 'status',
    provider: 'sandbox',
    status: 503,
    upstreamMessage: 'Too many pictures are worked on. Try again shortly.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
