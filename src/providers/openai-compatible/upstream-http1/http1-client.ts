import { Http1Connection, type ConnectionOwner } from './http1-connection.ts'
import { Http1Error } from './http1-error.ts'
import { createSocketOpener, type OpenSocket, type SocketOptions } from './open-socket.ts'
import { PendingPost, type PostPlace } from './pending-post.ts'
import type { AnswerHandler, Post, PostDispatcher } from './post-dispatcher.ts'
import { createPostWriter, type WrittenPost } from './write-post.ts'

/** Resolution of time limits: they are noticed up to two ticks late, never early. */
const TICK_MS = 100
const WAITING_MAX = 16_384
/** How long no new connection is tried after this process ran out of a resource. */
const SHORTAGE_MS = 200

export interface Http1ClientOptions extends Omit<SocketOptions, 'origin'> {
  readonly origin: string
  readonly connectionsMax: number
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number
  readonly connectTimeoutMs: number
}

/** An HTTP/1.1 client for POSTs of text to one origin, without any other features. */
export interface Http1Client extends PostDispatcher<string> {
  /** Fails all running and queued requests. */
  close(): void
  /** Whether there is neither an open connection nor a waiting request. */
  readonly isIdle: boolean
}

export function createHttp1Client(options: Http1ClientOptions): Http1Client {
  return new Http1Pool(options)
}

class Http1Pool implements Http1Client, ConnectionOwner, PostPlace {
  readonly #options: Http1ClientOptions
  readonly #writePost: (post: Post<string>) => WrittenPost
  readonly #openSocket: OpenSocket
  readonly #isTls: boolean
  readonly #connections: Http1Connection[] = []
  /** A stack: the connection that was used last is used next, so that surplus connections stay idle and expire. */
  readonly #free: Http1Connection[] = []
  readonly #waiting: PendingPost[] = []
  /**
   * Connections with a request to send at the end of this turn of the event loop (`#reserved`) or of the next one (`#rested`).
   */
  #reserved: Http1Connection[] = []
  #rested: Http1Connection[] = []
  #isSending = false
  #tick = 0
  #ticker: NodeJS.Timeout | null = null
  #isClosed = false
  /** Why no connection is tried at the moment. */
  #shortage: { readonly error: Error; readonly untilMs: number } | null = null

  constructor(options: Http1ClientOptions) {
    this.#options = options
    const origin = new URL(options.origin)
    this.#isTls = origin.protocol === 'https:'
    this.#writePost = createPostWriter(origin)
    this.#openSocket = createSocketOpener({ ...options, origin })
  }

  dispatch(post: Post<string>, handler: AnswerHandler): void {
    let pending: PendingPost
    try {
      pending = new PendingPost(post, this.#writePost(post), handler)
    } catch (error) {
      const refused = new PendingPost(post, null, handler)
      refused.fail(error instanceof Error ? error : new Error(String(error)))
      return
    }
    handler.onRequestStart(pending)
    if (!pending.isOver) this.#place(pending)
  }

  get isIdle(): boolean {
    return this.#connections.length === 0 && this.#waiting.length === 0
  }

  close(): void {
    this.#isClosed = true
    for (const post of this.#waiting.splice(0)) post.fail(closed())
    for (const connection of this.#connections.slice()) connection.fail(closed())
    this.#stopTicker()
  }

  tickAfter(durationMs: number): number {
    // Plus one, because the current tick has already begun.
    return durationMs > 0 ? this.#tick + Math.ceil(durationMs / TICK_MS) + 1 : Infinity
  }

  onFree(connection: Http1Connection): void {
    connection.freeSinceTick = this.#tick
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(connection)
    else this.#reserve(connection, next)
  }

  onGone(connection: Http1Connection, returned: PendingPost | null): void {
    const last = this.#connections.pop()
    if (last !== undefined && last !== connection) {
      this.#connections[connection.position] = last
      last.position = connection.position
    }
    const freeIndex = this.#free.indexOf(connection)
    if (freeIndex !== -1) this.#free.splice(freeIndex, 1)
    const next = returned ?? this.#waiting.shift()
    if (next !== undefined) this.#place(next)
  }

  onShortage(error: Error): void {
    this.#shortage = { error, untilMs: performance.now() + SHORTAGE_MS }
  }

  leave(post: PendingPost): void {
    const index = this.#waiting.indexOf(post)
    if (index !== -1) this.#waiting.splice(index, 1)
  }

  pause(): void {}

  resume(): void {}

  #place(post: PendingPost): void {
    const connection = post.wasLost ? undefined : this.#free.pop()
    if (connection !== undefined) this.#reserve(connection, post)
    else if (this.#isClosed) post.fail(closed())
    else if (this.#shortage !== null && performance.now() < this.#shortage.untilMs) {
      post.fail(new Http1Error('local', this.#shortage.error.message, this.#shortage.error))
    } else if (this.#connections.length < this.#options.connectionsMax) this.#connect(post)
    else if (this.#waiting.length >= WAITING_MAX) {
      post.fail(new Http1Error('connect', `more than ${WAITING_MAX} requests wait for a connection`))
    } else {
      post.place = this
      post.dueTick = this.tickAfter(post.headersTimeoutMs)
      this.#waiting.push(post)
    }
  }

  #connect(post: PendingPost): void {
    post.written ??= this.#writePost(post.post)
    const { connectTimeoutMs, keepAliveMs } = this.#options
    const connection = new Http1Connection(
      { owner: this, openSocket: this.#openSocket, isTls: this.#isTls, connectTimeoutMs, keepAliveMs },
      post,
    )
    connection.position = this.#connections.push(connection) - 1
    // Open sockets keep the process alive, the timer does not.
    this.#ticker ??= setInterval(this.#onTick, TICK_MS).unref()
  }

  /**
   * Writes to a reused connection only after reading what has arrived on it. If it was closed, or if unsolicited bytes arrived
   * that would be taken for the answer, the request uses another connection. A connection that was idle for longer is more likely
   * to be closed, so it waits for one more turn of the event loop.
   */
  #reserve(connection: Http1Connection, post: PendingPost): void {
    const sentNext = connection.freeSinceTick === this.#tick ? this.#reserved : this.#rested
    sentNext.push(connection)
    connection.reserve(post)
    if (!this.#isSending) setImmediate(this.#sendReserved)
    this.#isSending = true
  }

  readonly #sendReserved = (): void => {
    const reserved = this.#reserved
    this.#reserved = this.#rested
    this.#rested = []
    for (const connection of reserved) connection.send()
    this.#isSending = this.#reserved.length > 0 || this.#rested.length > 0
    if (this.#isSending) setImmediate(this.#sendReserved)
  }

  readonly #onTick = (): void => {
    this.#tick += 1
    for (let index = this.#connections.length - 1; index >= 0; index -= 1) {
      const connection = this.#connections[index]
      if (connection !== undefined && connection.dueTick <= this.#tick) connection.expire()
    }
    if (this.#waiting.length > 0) this.#expireWaiting()
    if (this.#connections.length === 0) this.#stopTicker()
  }

  #expireWaiting(): void {
    for (const post of this.#waiting.filter(({ dueTick }) => dueTick <= this.#tick)) {
      this.leave(post)
      post.fail(new Http1Error('timeout', `no connection was free for ${post.headersTimeoutMs} ms`))
    }
  }

  #stopTicker(): void {
    if (this.#ticker !== null) clearInterval(this.#ticker)
    this.#ticker = null
  }
}

function closed(): Http1Error {
  return new Http1Error('cut', 'the gateway is closing its connections')
}
