import type { Socket } from 'node:net'
import { shortageCodeOf } from '../../shortage-code.ts'
import type { AnswerHead } from './answer-head.ts'
import { AnswerReader, type AnswerSink } from './answer-reader.ts'
import { Http1Error } from './http1-error.ts'
import type { OpenSocket } from './open-socket.ts'
import type { PendingPost, PostPlace } from './pending-post.ts'

/** What a connection tells the pool that made it. */
export interface ConnectionOwner {
  /** The tick at which something has lasted this long. */
  tickAfter(durationMs: number): number
  /** It has nothing to do and may be given another request. */
  onFree(connection: Http1Connection): void
  /** It is gone. A request comes back of which it has sent nothing, or that nobody can have answered. */
  onGone(connection: Http1Connection, returned: PendingPost | null): void
  /** It could not be made because this process is short of something. */
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
  /** Has a request for which it is made. */
  | 'connecting'
  | 'free'
  /** Has a request that is not sent yet. */
  | 'reserved'
  | 'waiting'
  | 'reading'
  | 'closed'

/** One socket, with one request at a time. */
export class Http1Connection implements AnswerSink, PostPlace {
  readonly #options: ConnectionOptions
  readonly #reader = new AnswerReader(this)
  readonly #socket: Socket
  #state: State = 'connecting'
  #post: PendingPost | null
  #keepAliveMs = 0
  #isUsed = false
  /** Whether anything of the present answer has come. */
  #hasRead = false
  /** The tick at which its present state has lasted too long. */
  dueTick: number
  /** Where the pool keeps it. */
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

  /** Takes a request; it is sent when the pool says so. */
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
    // The system took nothing of it, so that nobody can have read it and it can go elsewhere.
    if (this.#isUsed && !this.#options.isTls && this.#socket.errored !== null) return this.#close()
    post.written = null
    this.#state = 'waiting'
    this.#hasRead = false
    post.handler.onRequestSent?.()
    this.#reader.start()
    this.dueTick = this.#options.owner.tickAfter(post.headersTimeoutMs)
  }

  /** What it does has lasted too long. */
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

  /** Ends the connection, and with it the request that it has. */
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
    // Whoever does not read cannot know that nothing comes.
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
    // An answer to half a request leaves the other half behind.
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

  /** A request of which nothing is sent goes back to the pool. */
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
   * The peer has closed a connection while it rested, and learned of the request too late to answer it. That says nothing about the
   * peer, and the request is sent once more. On a new connection the same is a failure.
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
    // Nobody has asked for this.
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
