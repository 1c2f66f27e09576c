import { shortageCodeOf } from '../../failures/shortage-code.ts'
import type { AnswerHead } from './answer-head.ts'
import { AnswerReader, type AnswerSink } from './answer-reader.ts'
import { Http1Error } from './http1-error.ts'
import type { OpenSocket } from './open-socket.ts'
import type { PendingPost, PostPlace } from './pending-post.ts'
import type { UpstreamSocket } from './upstream-socket.ts'

/** Callbacks of a connection to its pool. */
export interface ConnectionOwner {
  /** Returns the tick at which this duration has passed. */
  tickAfter(durationMs: number): number
  /** The connection is idle and can accept another request. */
  onFree(connection: Http1Connection): void
  /** The connection has closed. `returned` is its request if nothing of it was sent, or if the peer cannot have answered it. */
  onGone(connection: Http1Connection, returned: PendingPost | null): void
  /** The connection failed because this process ran out of a resource. */
  onShortage(error: Error): void
}

interface ConnectionOptions {
  readonly owner: ConnectionOwner
  readonly openSocket: OpenSocket
  readonly isTls: boolean
  readonly connectTimeoutMs: number
  readonly keepAliveMs: number
}

type State =
  /** Already has the request for which it is opened. */
  | 'connecting'
  | 'free'
  /** Has a request that is not sent yet. */
  | 'reserved'
  | 'waiting'
  | 'reading'
  | 'closed'

/** One socket, which serves one request at a time. */
export class Http1Connection implements AnswerSink, PostPlace {
  readonly #options: ConnectionOptions
  readonly #reader = new AnswerReader(this)
  readonly #socket: UpstreamSocket
  #state: State = 'connecting'
  #post: PendingPost | null
  #keepAliveMs = 0
  #isUsed = false
  /** Whether any byte of the current answer has arrived. */
  #hasRead = false
  /** The tick at which the current state times out. */
  dueTick: number
  /** Index in the pool's list of connections. */
  position = 0
  freeSinceTick = 0

  constructor(options: ConnectionOptions, post: PendingPost) {
    this.#options = options
    this.#post = post
    post.place = this
    this.dueTick = options.owner.tickAfter(options.connectTimeoutMs)
    this.#socket = options.openSocket(this.#onRead)
    this.#socket.once(options.isTls ? 'secureConnect' : 'connect', this.#onConnect)
    this.#socket.on('end', this.#onSocketEnd)
    this.#socket.on('error', this.#onSocketError)
    this.#socket.on('close', this.#onSocketEnd)
  }

  /** Accepts a request. The pool calls `send` later. */
  reserve(post: PendingPost): void {
    this.#state = 'reserved'
    this.#post = post
    post.place = this
    this.dueTick = Infinity
  }

  send(): void {
    const post = this.#post
    if (this.#state !== 'reserved' || post === null || post.written === null) return
    const { text, encoding } = post.written
    this.#socket.write(text, encoding)
    // The write failed immediately, so the peer has read nothing and the request can use another connection.
    if (this.#isUsed && !this.#options.isTls && this.#socket.errored !== null) return this.#close()
    post.written = null
    this.#state = 'waiting'
    this.#hasRead = false
    post.handler.onRequestSent?.()
    this.#reader.start()
    this.dueTick = this.#options.owner.tickAfter(post.headersTimeoutMs)
  }

  /** Handles the timeout of the current state. */
  expire(): void {
    if (this.#state === 'connecting') {
      this.fail(new Http1Error('connect', `no connection within ${this.#options.connectTimeoutMs} ms`))
    } else if (this.#state === 'waiting') {
      this.fail(new Http1Error('timeout', `no answer within ${this.#post?.headersTimeoutMs} ms`))
    } else if (this.#state === 'reading') {
      this.fail(new Http1Error('timeout', `silent for ${this.#post?.bodyTimeoutMs} ms`))
    } else {
      this.#close()
    }
  }

  /** Closes the connection and fails its request. */
  fail(error: Error): void {
    const post = this.#post
    this.#post = null
    this.#close()
    post?.fail(error)
  }

  leave(): void {
    this.#post = null
    this.#close()
  }

  pause(): void {
    if (this.#state !== 'reading') return
    this.#socket.pause()
    // No idle timeout while reading is paused.
    this.dueTick = Infinity
  }

  resume(): void {
    if (this.#state !== 'reading') return
    this.#socket.resume()
    this.#expectMore()
  }

  onHead(head: AnswerHead): void {
    this.#state = 'reading'
    this.#keepAliveMs = Math.min(head.keepAliveMs, this.#options.keepAliveMs)
    this.#post?.handler.onResponseStart(this.#post, head.status, head.headers)
    if (this.#post?.paused === true) this.pause()
  }

  onBody(bytes: Buffer): void {
    this.#post?.handler.onResponseData(this.#post, bytes)
  }

  onEnd(isClean: boolean): void {
    const post = this.#post
    this.#post = null
    // If the answer came before the request was completely sent, the rest of the request is still in the socket's buffer.
    if (!isClean || this.#keepAliveMs === 0 || this.#socket.writableLength > 0) this.#close()
    else this.#becomeFree(post?.paused === true)
    post?.end()
  }

  #becomeFree(isPaused: boolean): void {
    if (isPaused) this.#socket.resume()
    this.#state = 'free'
    this.#isUsed = true
    this.dueTick = this.#options.owner.tickAfter(this.#keepAliveMs)
    this.#options.owner.onFree(this)
  }

  #expectMore(): void {
    if (this.#post !== null) this.dueTick = this.#options.owner.tickAfter(this.#post.bodyTimeoutMs)
  }

  /** Closes the connection. Returns a request of which nothing was sent to the pool. */
  #close(returned = this.#state === 'reserved' ? this.#post : null): void {
    if (this.#state === 'closed') return
    this.#post = null
    this.#state = 'closed'
    this.dueTick = Infinity
    this.#reader.stop()
    this.#socket.destroy()
    this.#options.owner.onGone(this, returned)
  }

  /**
   * Returns whether the peer closed the connection while it was idle, before it could see the request. This is not a failure of
   * the peer, so the request is sent once more. On a new connection the same event is a failure.
   */
  #isLeft(): boolean {
    return this.#state === 'waiting' && this.#isUsed && !this.#hasRead
  }

  #returnLost(): void {
    if (this.#post !== null) this.#post.wasLost = true
    this.#close(this.#post)
  }

  readonly #onConnect = (): void => {
    if (this.#state !== 'connecting') return
    this.#state = 'reserved'
    this.send()
  }

  readonly #onRead = (bytes: Buffer, length: number): void => {
    // Unsolicited bytes.
    if (this.#state !== 'waiting' && this.#state !== 'reading') return this.#close()
    this.#hasRead = true
    try {
      this.#reader.read(bytes, length)
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (this.#state === 'reading' && this.#post?.paused === false) this.#expectMore()
  }

  readonly #onSocketEnd = (): void => {
    if (this.#isLeft()) {
      this.#returnLost()
    } else if (this.#state === 'reading' && this.#reader.readEnd()) {
      this.onEnd(false)
    } else if (this.#state === 'connecting') {
      this.fail(new Http1Error('connect', 'the connection ended before it was made'))
    } else if (this.#state === 'waiting' || this.#state === 'reading') {
      const when = this.#state === 'waiting' ? 'before its answer' : 'in the middle of its answer'
      this.fail(new Http1Error('cut', `the connection ended ${when}`))
    } else {
      this.#close()
    }
  }

  readonly #onSocketError = (error: Error): void => {
    const failure = this.#state === 'connecting' ? 'connect' : 'cut'
    if (failure === 'connect' && shortageCodeOf(error) !== null) this.#options.owner.onShortage(error)
    if (this.#state === 'reserved') this.#close()
    else if (this.#isLeft()) this.#returnLost()
    else this.fail(new Http1Error(failure, error.message, error))
  }
}
