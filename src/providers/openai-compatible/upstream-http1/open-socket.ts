import { connect as connectTcp, isIP, type OnReadOpts, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'

const READ_BYTES_MAX = 64 * 1024
const TCP_KEEP_ALIVE_MS = 60_000

/** Shared by all sockets of the process: each read is processed before the next one begins. */
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX)

/** Opens a connection to the origin. Calls `onRead` with the received bytes in a buffer that the next read overwrites. */
export type OpenSocket = (onRead: (bytes: Buffer, length: number) => void) => Socket

export interface SocketOptions {
  readonly origin: URL
  /** Trusted instead of Node's default certificate authorities. */
  readonly certificateAuthority?: string
}

export function createSocketOpener({ origin, certificateAuthority }: SocketOptions): OpenSocket {
  const isTls = origin.protocol === 'https:'
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  const port = Number(origin.port) || (isTls ? 443 : 80)
  const tune = <Opened extends Socket>(socket: Opened): Opened =>
    socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS)
  if (!isTls) return (onRead) => tune(connectTcp({ host, port, onread: readWith(onRead) }))

  let session: Buffer | undefined
  return (onRead) => {
    const options: ConnectionOptions & TcpNetConnectOpts = {
      host,
      port,
      onread: readWith(onRead),
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(session === undefined ? {} : { session }),
      ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    }
    const socket = tune(connectTls(options))
    // Resuming the session shortens the next handshake.
    socket.on('session', (given) => {
      session = given
    })
    return socket
  }
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
