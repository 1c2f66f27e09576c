import { connect as connectTcp, isIP, type OnReadOpts, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { secureContextOf, type NetworkPath } from '../../connection/network-path.ts'
import { openTunnel } from '../../connection/open-tunnel.ts'
import { lookUpBeyondLink } from '../../connection/refuse-link-local.ts'
import { TunnelSocket } from './tunnel-socket.ts'
import type { UpstreamSocket } from './upstream-socket.ts'

const READ_BYTES_MAX = 64 * 1024
const TCP_KEEP_ALIVE_MS = 60_000

/** Shared by all sockets of the process: each read is processed before the next one begins. */
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX)

/** Opens a connection to the origin. Calls `onRead` with the received bytes in a buffer that the next read overwrites. */
export type OpenSocket = (onRead: (bytes: Buffer, length: number) => void) => UpstreamSocket

export interface SocketOptions extends NetworkPath {
  readonly origin: URL
}

export function createSocketOpener({ origin, ...path }: SocketOptions): OpenSocket {
  const isTls = origin.protocol === 'https:'
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  const port = Number(origin.port) || (isTls ? 443 : 80)
  const secureContext = secureContextOf(path)
  const { proxy } = path
  const tune = (socket: Socket): Socket => socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS)

  let session: Buffer | undefined
  const encrypt = (transport: Pick<ConnectionOptions & TcpNetConnectOpts, 'socket' | 'onread'>): Socket => {
    const options: ConnectionOptions & TcpNetConnectOpts = {
      host,
      port,
      lookup: lookUpBeyondLink,
      ...transport,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(session === undefined ? {} : { session }),
      ...(secureContext === undefined ? {} : { secureContext }),
    }
    const socket = connectTls(options)
    // Resuming the session shortens the next handshake.
    socket.on('session', (given) => {
      session = given
    })
    return socket
  }
  if (proxy !== undefined)
    return (onRead) =>
      new TunnelSocket({
        open: (onTunnel) => openTunnel({ host, port }, { proxy, secureContext }, onTunnel),
        encrypt: isTls ? (socket) => encrypt({ socket: tune(socket) }) : null,
        onRead,
      })
  if (!isTls)
    return (onRead) => tune(connectTcp({ host, port, lookup: lookUpBeyondLink, onread: readWith(onRead) }))
  return (onRead) => tune(encrypt({ onread: readWith(onRead) }))
}

function readWith(onRead: (bytes: Buffer, length: number) => void): OnReadOpts {
  return {
    buffer: readBuffer,
    callback: (length) => {
      onRead(readBuffer, length)
      return true
    },
  }
}
