import type { Socket } from 'node:net'

/** Connections that came before the gateway can serve them. Their number is limited by the connection gate. */
export class WaitingConnections {
  readonly #serve: (socket: Socket) => void
  readonly #waiting = new Set<Socket>()
  #isOpen = false

  constructor(serve: (socket: Socket) => void) {
    this.#serve = serve
  }

  add(socket: Socket): void {
    if (this.#isOpen) return this.#serve(socket)
    this.#waiting.add(socket)
    // Nobody else listens yet, and an error that nobody listens to ends the process.
    socket.on('error', ignore)
    socket.once('close', () => this.#waiting.delete(socket))
  }

  open(): void {
    this.#isOpen = true
    for (const socket of this.#waiting) if (!socket.destroyed) this.#serve(socket)
    this.#waiting.clear()
  }

  close(): void {
    for (const socket of this.#waiting) socket.destroy()
  }
}

function ignore(): void {}
