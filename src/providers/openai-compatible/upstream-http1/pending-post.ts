import type { AnswerController, AnswerHandler, Post } from './post-dispatcher.ts'
import type { WrittenPost } from './write-post.ts'

/** The place of a request: the queue or a connection. */
export interface PostPlace {
  /** Called when the answer is no longer needed. */
  leave(post: PendingPost): void
  pause(): void
  resume(): void
}

/** A request from its dispatch to its end. Handlers use it as their controller. */
export class PendingPost implements AnswerController {
  readonly handler: AnswerHandler
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  /** The original request. */
  readonly post: Post<string>
  /** Null after sending, so that its memory is freed while the answer is pending. */
  written: WrittenPost | null
  /** Was sent on a reused connection that the peer had closed. It must be retried on a new one. */
  wasLost = false
  place: PostPlace | null = null
  /** The tick at which its time in the queue is over. */
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
      // Do not throw: the connection may already serve the next request, which must not be affected.
      this.handler.onResponseError(this, error instanceof Error ? error : new Error(String(error)))
    }
  }
}
