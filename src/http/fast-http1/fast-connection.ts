import type { Socket } from 'node:net'
import type { RequestMessage, ResponseMessage } from '../message.ts'
import { FastResponse } from './fast-response.ts'
import { HeadReader } from './head-reader.ts'
import type { RequestHead } from './read-head.ts'

export interface FastConnectionOptions {
  readonly socket: Socket
  /** Whether requests to this path are served here. */
  readonly isServed: (url: string) => boolean
  readonly serve: (request: RequestMessage, response: ResponseMessage, body: Buffer) => void
  /** Hands the socket over, with all bytes that were received but not served. */
  readonly handOver: (connection: FastConnection) => void
  readonly onClose: (connection: FastConnection) => void
  /** Whether this many more bytes may be buffered for a request whose key is not known. */
  readonly hold: (bytes: number) => boolean
  readonly giveBack: (bytes: number) => void
  /** Refuses a connection that has reached the limit, and closes it. */
  readonly refuse: (socket: Socket) => void
  readonly isClosing: () => boolean
  readonly keepAliveSeconds: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const HEAD_BYTES_MAX = 16 * 1024
/** Larger bodies go to Node's server; reading is a small part of their cost. */
const BODY_BYTES_MAX = 256 * 1024
/** How much a client may send before it has received the current answer. */
const AHEAD_BYTES_MAX = 64 * 1024

/**
 * A connection that is served without Node's HTTP server while its requests are simple: complete POSTs to hot routes, one
 * after another. The first other request goes to Node's server, together with the connection.
 */
export class FastConnection {
  readonly socket: Socket
  readonly #options: FastConnectionOptions
  /** Index in the server's list of connections. */
  position = -1
  /** Start of the wait for a request or for the rest of one. */
  waitingSinceMs = performance.now()
  #hasServed = false
  #chunks: Buffer[] = []
  #bytes = 0
  /** The part of these bytes that counts as unauthenticated. */
  #heldBytes = 0
  /** The head of the incoming request. */
  #head: RequestHead | null = null
  #headBytes = 0
  readonly #heads = new HeadReader()
  #response: FastResponse | null = null

  constructor(options: FastConnectionOptions) {
    this.#options = options
    this.socket = options.socket
    const { socket } = options
    socket.on('data', this.#onData).on('drain', this.#onDrain)
    socket.on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose)
  }

  get isBusy(): boolean {
    return this.#response !== null
  }

  /** Whether a part of a request has been received. */
  get hasBegun(): boolean {
    return this.#bytes > 0
  }

  /** Whether the connection is idle after at least one request. */
  get isKept(): boolean {
    return this.#hasServed && this.#bytes === 0
  }

  /** Removes all listeners from the socket. Returns the bytes of a request that was not served. */
  release(): Buffer {
    const { socket } = this
    socket.off('data', this.#onData).off('drain', this.#onDrain)
    socket.off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
    this.#giveBack()
    return Buffer.concat(this.#chunks)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#response !== null) {
      if (this.#bytes > AHEAD_BYTES_MAX) this.socket.pause()
      return
    }
    this.#readRequest()
    if (this.#head !== null) this.#hold()
  }

  /** Reserves the bytes of an incomplete request. Refuses the connection at the limit. */
  #hold(): void {
    const bytes = this.#bytes - this.#heldBytes
    if (this.#options.hold(bytes)) {
      this.#heldBytes += bytes
      return
    }
    this.#options.onClose(this)
    this.release()
    this.#options.refuse(this.socket)
  }

  #giveBack(): void {
    if (this.#heldBytes === 0) return
    this.#options.giveBack(this.#heldBytes)
    this.#heldBytes = 0
  }

  #readRequest(): void {
    const [first] = this.#chunks
    if (first === undefined) return
    if (this.#head === null && !this.#readHead(first)) {
      this.#options.handOver(this)
      return
    }
    const head = this.#head
    if (head !== null && this.#bytes >= this.#headBytes + head.bodyBytes) this.#serve(head)
  }

  /** Returns false if the request is not served here. A head that arrives in several chunks is not served here either. */
  #readHead(bytes: Buffer): boolean {
    const end = bytes.indexOf(HEAD_END)
    if (end === -1 || end > HEAD_BYTES_MAX) return false
    const head = this.#heads.read(bytes.toString('latin1', 0, end))
    if (head === null || head.bodyBytes > BODY_BYTES_MAX || !this.#options.isServed(head.url)) return false
    this.waitingSinceMs = performance.now()
    this.#head = head
    this.#headBytes = end + HEAD_END.length
    return true
  }

  #serve(head: RequestHead): void {
    this.#giveBack()
    const bytes = this.#takeBytes()
    const bodyEnd = this.#headBytes + head.bodyBytes
    const body = bytes.subarray(this.#headBytes, bodyEnd)
    if (bytes.length > bodyEnd) this.#putBack(bytes.subarray(bodyEnd))
    this.#head = null
    this.#hasServed = true
    const response = new FastResponse(this.socket, this.#options.keepAliveSeconds)
    this.#response = response
    response.on('close', this.#onAnswered)
    const { url, headers } = head
    this.#options.serve({ method: 'POST', url, headers, socket: this.socket, complete: true }, response, body)
  }

  #takeBytes(): Buffer {
    const [first] = this.#chunks
    const bytes = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)
    this.#chunks.length = 0
    this.#bytes = 0
    return bytes
  }

  #putBack(bytes: Buffer): void {
    this.#chunks.push(bytes)
    this.#bytes = bytes.length
  }

  readonly #onAnswered = (): void => {
    const response = this.#response
    this.#response = null
    this.waitingSinceMs = performance.now()
    if (response === null || this.socket.destroyed) return
    if (response.isLast || this.#options.isClosing()) {
      // Further input is not answered, so no request may start.
      this.socket.off('data', this.#onData).resume()
      this.socket.destroySoon()
      return
    }
    if (this.#bytes === 0) return
    // Join the chunks that arrived during the answer, so that a complete head is in one chunk.
    if (this.#chunks.length > 1) this.#putBack(this.#takeBytes())
    if (this.socket.isPaused()) this.socket.resume()
    this.#readRequest()
    if (this.#head !== null) this.#hold()
  }

  readonly #onDrain = (): void => {
    this.#response?.emit('drain')
  }

  // A client that closes its side does not wait for an answer; Node's server does the same.
  readonly #onEnd = (): void => {
    if (this.#response === null) this.socket.end()
    else this.socket.destroy()
  }

  readonly #onError = (): void => {
    this.socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#options.onClose(this)
    this.#giveBack()
    this.#response?.close()
  }
}
