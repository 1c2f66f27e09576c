import type { Socket } from 'node:net'
import { AppError } from '../../kernel/app-error.ts'
import { writeErrorAnswer } from './answer-client-error.ts'

interface ConnectionGateOptions {
  readonly connectionsMax: number
  /** Refused connections that are open at the same time. */
  readonly refusedMax: number
  /** Maximum bytes of requests whose key is not known yet, over all connections. */
  readonly unauthenticatedBytesMax: number
  /** Whether the start of a request has a cached key, or is a health probe. */
  readonly isTrusted: (bytes: Buffer) => boolean
  readonly onRefused: () => void
}

/** What Node's server may buffer of an unread request: its head and a part of its body. */
const NODE_REQUEST_BYTES = 80 * 1024
/** How long a refused client may take to send its request, and then to read the answer. */
const LINGER_MS = 1_000
const READ_MS = 250

/**
 * Limits what unauthenticated clients can occupy: the number of connections, and the bytes read before a key is known.
 * Connections beyond a limit are answered with 503 and closed.
 */
export class ConnectionGate {
  readonly #options: ConnectionGateOptions
  readonly #ofNode = new WeakMap<object, number>()
  #connections = 0
  #lingering = 0
  #bytes = 0

  constructor(options: ConnectionGateOptions) {
    this.#options = options
  }

  /** Returns false if the connection was refused. */
  admit(socket: Socket): boolean {
    this.#connections += 1
    socket.once('close', () => {
      this.#connections -= 1
      this.release(socket)
    })
    if (this.#connections <= this.#options.connectionsMax) return true
    this.refuse(socket)
    return false
  }

  /** Reserves bytes for a request without a known key. Returns false at the limit. Reserved bytes must be given back. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > this.#options.unauthenticatedBytesMax) return false
    this.#bytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes
  }

  /**
   * Reserves bytes for a connection that is handed to Node's server. `bytes` is the start of its request. Returns false if the
   * connection was refused.
   */
  enterNode(socket: Socket, bytes: Buffer): boolean {
    if (this.hold(NODE_REQUEST_BYTES)) {
      this.#ofNode.set(socket, NODE_REQUEST_BYTES)
      return true
    }
    if (this.#options.isTrusted(bytes)) return true
    this.refuse(socket)
    return false
  }

  /** Called when the key of a request is known, so the connection no longer counts as unauthenticated. */
  release(socket: object): void {
    const held = this.#ofNode.get(socket)
    if (held === undefined) return
    this.#ofNode.delete(socket)
    this.giveBack(held)
  }

  refuse(socket: Socket): void {
    this.#options.onRefused()
    const message = 'The gateway has as many connections as it can take. Try again shortly.'
    const refusal = new AppError('service_unavailable', message, { retryAfterSeconds: 1 })
    if (this.#lingering >= this.#options.refusedMax) {
      // Closed at once, so that connections that are served keep their files. Most clients still read the answer.
      writeErrorAnswer(
        socket.on('error', () => socket.destroy()),
        refusal,
      )
      socket.destroySoon()
      return
    }
    this.#lingering += 1
    // Discard further input: closing a socket with unread bytes resets it, and the client may lose the answer.
    socket.on('error', () => socket.destroy()).resume()
    let timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
    // Most requests arrive whole. Their connections make room for others soon.
    socket.once('data', () => {
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), READ_MS).unref()
    })
    socket.once('close', () => {
      clearTimeout(timer)
      this.#lingering -= 1
    })
    writeErrorAnswer(socket, refusal)
  }
}
