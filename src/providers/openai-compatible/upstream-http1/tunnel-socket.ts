import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { openTunnel } from '../../connection/open-tunnel.ts'
import type { UpstreamSocket } from './upstream-socket.ts'

interface TunnelSocketOptions {
  readonly open: (onTunnel: Parameters<typeof openTunnel>[2]) => () => void
  /** Encrypts the connection to the upstream. Null for plain HTTP. */
  readonly encrypt: ((socket: Socket) => Socket) | null
  readonly onRead: (bytes: Buffer, length: number) => void
}

/** A connection through a proxy. Behaves like a socket that is connecting until the upstream is reached. */
export class TunnelSocket extends EventEmitter implements UpstreamSocket {
  readonly #options: TunnelSocketOptions
  readonly #giveUp: () => void
  #socket: Socket | null = null
  #isDestroyed = false

  constructor(options: TunnelSocketOptions) {
    super()
    this.#options = options
    this.#giveUp = options.open((error, socket) => {
      if (this.#isDestroyed) socket?.destroy()
      else if (socket === null) this.emit('error', error)
      else this.#attach(socket)
    })
  }

  get errored(): Error | null {
    return this.#socket?.errored ?? null
  }

  get writableLength(): number {
    return this.#socket?.writableLength ?? 0
  }

  write(text: string, encoding: BufferEncoding): boolean {
    return this.#socket?.write(text, encoding) ?? false
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  destroy(): void {
    this.#isDestroyed = true
    if (this.#socket === null) this.#giveUp()
    else this.#socket.destroy()
  }

  #attach(tunnel: Socket): void {
    const { encrypt, onRead } = this.#options
    const socket = encrypt === null ? tunnel : encrypt(tunnel)
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => onRead(bytes, bytes.length))
    for (const event of ['end', 'close', 'error', 'secureConnect'])
      socket.on(event, (value) => this.emit(event, value))
    // An encrypted one says it after its handshake.
    if (encrypt === null) this.emit('connect')
    socket.resume()
  }
}
