import type { AnswerController, AnswerHandler, Post } from './post-dispatcher.ts'
import type { WrittenPost } from './write-post.ts'

/** Where a request is: in the queue or on a connection. */
export interface PostPlace {
  /** Nobody wants the answer any more. */
  leave(post: PendingPost): void
  pause(): void
  resume(): void
}

/** A request on its way, from being asked for to its end. Handlers know it as their controller. */
export class PendingPost implements AnswerController {
  readonly handler: AnswerHandler
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  /** As it was asked for. */
  readonly post: Post<string>
  /** Null once it is sent: an answer can take much longer than its question. */
  written: WrittenPost | null
  /** Was lost with a used connection that its peer had left, and goes on a new one. */
  wasLost = false
  place: PostPlace | null = null
  /** The tick at which it has waited long enough in the queue. */
  dueTick = Infinity
  #isOver = false
  #isPaused = false

  constructor(post: Post<string>, written: WrittenPost | null, handler: AnswerHandler) {
    this.post = post
    this.handler = handler
    this.headersTimeoutMs = post.headersTimeout
    this.bodyTimeoutMs = post.bodyTimeout
    this.written = written
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get paused(): boolean {
    return this.#isPaused
  }

  pause(): void {
    if (this.#isOver || this.#isPaused) return
    this.#isPaused = true
    this.place?.pause()
  }

  resume(): void {
    if (this.#isOver || !this.#isPaused) return
    this.#isPaused = false
    this.place?.resume()
  }

  abort(reason: Error): void {
    if (this.#isOver) return
    this.place?.leave(this)
    this.fail(reason)
  }

  fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.place = null
    this.handler.onResponseError(this, error)
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.place = null
    try {
      this.handler.onResponseEnd()
    } catch (error) {
      // Its connection may have the next request by now, which has no part in this.
      this.handler.onResponseError(this, error instanceof Error ? error : new Error(String(error)))
    }
  }
}
