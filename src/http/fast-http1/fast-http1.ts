import type { Socket } from 'node:net'
import type { ConnectionGate } from '../connections/connection-gate.ts'
import { FastConnection, type FastConnectionOptions } from './fast-connection.ts'

interface FastHttp1Options extends Pick<FastConnectionOptions, 'isServed' | 'serve' | 'isClosing'> {
  /** Hands a connection over to Node's HTTP server. */
  readonly serveByNode: (socket: Socket) => void
  readonly gate: ConnectionGate
  readonly keepAliveMs: number
}

export interface FastHttp1 {
  readonly accept: (socket: Socket) => void
  closeIdle(): void
  close(): void
}

const LOOK_MS = 5_000
/** A request that is not complete after this goes to Node's server, which applies the request timeout. */
const WHOLE_MS_MAX = 5_000

/** Serves connections without Node's HTTP server. */
export function createFastHttp1(options: FastHttp1Options): FastHttp1 {
  const { serveByNode, keepAliveMs, gate, ...shared } = options
  const connections: FastConnection[] = []

  const remove = (connection: FastConnection): void => {
    const last = connections.pop()
    if (last === undefined || last === connection) return
    connections[connection.position] = last
    last.position = connection.position
  }
  const handOver = (connection: FastConnection): void => {
    remove(connection)
    const { socket } = connection
    const bytes = connection.release()
    if (!gate.enterNode(socket, bytes)) return
    socket.pause()
    if (bytes.length > 0) socket.unshift(bytes)
    serveByNode(socket)
    socket.resume()
  }
  const perConnection = {
    ...shared,
    handOver,
    onClose: remove,
    hold: (bytes: number) => gate.hold(bytes),
    giveBack: (bytes: number) => gate.giveBack(bytes),
    refuse: (socket: Socket) => gate.refuse(socket),
    keepAliveSeconds: Math.floor(keepAliveMs / 1000),
  }
  const look = (): void => {
    const nowMs = performance.now()
    for (const connection of connections.slice()) {
      const waitingMs = nowMs - connection.waitingSinceMs
      if (connection.isBusy || waitingMs < WHOLE_MS_MAX) continue
      if (!connection.isKept) handOver(connection)
      else if (waitingMs >= keepAliveMs) connection.socket.destroySoon()
    }
  }
  const looking = setInterval(look, LOOK_MS).unref()

  return {
    accept(socket) {
      const connection = new FastConnection({ ...perConnection, socket })
      connection.position = connections.push(connection) - 1
    },
    closeIdle() {
      for (const connection of connections.slice()) {
        if (connection.isBusy) continue
        if (connection.hasBegun) handOver(connection)
        else connection.socket.destroy()
      }
    },
    close() {
      clearInterval(looking)
      for (const { socket } of connections.slice()) socket.destroy()
    },
  }
}
