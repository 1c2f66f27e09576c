import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { lookUpBeyondLink } from './refuse-link-local.ts'
import type { ProxyServer } from './network-path.ts'

const HEAD_BYTES_MAX = 16 * 1024
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/

interface TunnelTarget {
  /** Without brackets. */
  readonly host: string
  readonly port: number
}

interface TunnelOptions {
  readonly proxy: ProxyServer
  /** Verifies the proxy itself. */
  readonly secureContext: SecureContext | undefined
}

/** Called once. The connection is paused until somebody reads it. */
type OnTunnel = (error: Error | null, socket: Socket | null) => void

/**
 * Opens a connection to a host through a proxy. Returns a function that gives up. The caller limits the time. Errors name neither the
 * proxy nor its password.
 */
export function openTunnel(
  target: TunnelTarget,
  { proxy, secureContext }: TunnelOptions,
  onTunnel: OnTunnel,
): () => void {
  const address = new URL(proxy.url)
  const isTls = address.protocol === 'https:'
  const socket = isTls ? connectByTls(address, secureContext) : connectTcp(placeOf(address))
  let head = Buffer.alloc(0)
  let isOver = false
  const finish = (error: Error | null): void => {
    if (isOver) return
    isOver = true
    socket.off('data', read)
    socket.off('error', fail)
    socket.off('close', end)
    if (error === null) return onTunnel(null, socket.pause())
    // Whoever gave up is not interested in what happens to the connection.
    socket.on('error', () => {})
    socket.destroy()
    onTunnel(error, null)
  }
  const read = (bytes: Buffer): void => {
    head = Buffer.concat([head, bytes])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1 && head.length <= HEAD_BYTES_MAX) return
    finish(end === -1 ? new TunnelFailed('its proxy did not answer in HTTP') : problemOf(head, end))
  }
  const fail = (error: Error): void => finish(noConnection(error))
  const end = (): void => finish(new TunnelFailed('its proxy closed the connection'))
  socket.setNoDelay(true)
  socket.on('data', read)
  socket.on('error', fail)
  socket.on('close', end)
  socket.once(isTls ? 'secureConnect' : 'connect', () => socket.write(writeConnect(target, proxy)))
  return () => finish(new TunnelFailed('nobody waits for the connection any more'))
}

/** The proxy could not be reached, or refused to connect. */
export class TunnelFailed extends Error {
  override readonly name = 'TunnelFailed'
  readonly code: string

  constructor(message: string, code = 'ECONNREFUSED') {
    super(message)
    this.code = code
  }
}

function connectByTls(address: URL, secureContext: SecureContext | undefined): Socket {
  const place = placeOf(address)
  return connectTls({
    ...place,
    ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    ...(secureContext === undefined ? {} : { secureContext }),
  })
}

function placeOf({ protocol, hostname, port }: URL) {
  const host = hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(port) || (protocol === 'https:' ? 443 : 80), lookup: lookUpBeyondLink }
}

function writeConnect({ host, port }: TunnelTarget, { username = '', password = '' }: ProxyServer): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const credentials =
    username === '' && password === ''
      ? ''
      : `proxy-authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`
}

function problemOf(head: Buffer, end: number): TunnelFailed | null {
  const status = Number(STATUS_LINE.exec(head.toString('latin1', 0, end + 4))?.[1])
  if (Number.isNaN(status)) return new TunnelFailed('its proxy did not answer in HTTP')
  if (status < 200 || status > 299) return new TunnelFailed(`its proxy answered ${status}`)
  // No server speaks before it is asked, so these bytes are the proxy's.
  return head.length === end + 4 ? null : new TunnelFailed('its proxy sent more than an answer')
}

function noConnection(error: Error): TunnelFailed {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return new TunnelFailed('there is no connection to its proxy', code)
}
