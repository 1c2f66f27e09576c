import type { Socket } from 'node:net'
import { AppError } from '../../kernel/app-error.ts'
import { writeErrorAnswer } from './answer-client-error.ts'

interface ConnectionGateOptions {
  readonly connectionsMax: number
  /** Of requests whose key is not known yet, over all connections. */
  readonly unauthenticatedBytesMax: number
  /** Whether the beginning of a request shows a key that is in memory, or asks whether the gateway is well. */
  readonly isTrusted: (bytes: Buffer) => boolean
  readonly onRefused: () => void
}

/** What Node's server may hold of a request that nobody reads: its head, and a buffer of its body. */
const NODE_REQUEST_BYTES = 80 * 1024
const LINGER_MS = 1_000
const LINGERING_MAX = 1_024

/**
 * Bounds what strangers can make a process hold: how many connections there are, and how many bytes were read before a key was
 * known. What is beyond either is answered with 503 and closed.
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

  /** False for a connection that was refused. */
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

  /** Whether so much more may be held of requests without a known key. What is held must be given back. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > this.#options.unauthenticatedBytesMax) return false
    this.#bytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes
  }

  /** For a connection that Node's server is to read, with what came of its first request. False for one that was refused. */
  enterNode(socket: Socket, bytes: Buffer): boolean {
    if (this.hold(NODE_REQUEST_BYTES)) {
      this.#ofNode.set(socket, NODE_REQUEST_BYTES)
      return true
    }
    if (this.#options.isTrusted(bytes)) return true
    this.refuse(socket)
    return false
  }

  /** The key of a request is known, and whoever has it answers for the rest of the connection. */
  release(socket: object): void {
    const held = this.#ofNode.get(socket)
    if (held === undefined) return
    this.#ofNode.delete(socket)
    this.giveBack(held)
  }

  refuse(socket: Socket): void {
    this.#options.onRefused()
    if (this.#lingering >= LINGERING_MAX) {
      socket.destroy()
      return
    }
    this.#lingering += 1
    // What still comes is read past: a socket that is closed with unread bytes takes its answer back.
    socket.on('error', () => socket.destroy()).resume()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
    socket.once('close', () => {
      clearTimeout(timer)
      this.#lingering -= 1
    })
    const message = 'The gateway has as many connections as it can take. Try again shortly.'
    writeErrorAnswer(socket, new AppError('service_unavailable', message, { retryAfterSeconds: 1 }))
  }
}
