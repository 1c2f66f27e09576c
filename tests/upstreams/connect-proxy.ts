import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsFront } from 'node:tls'
import {
  certificate,
  privateKey,
} from '../../src/providers/openai-compatible/upstream-http1/testing/certificate.ts'

const TLS = { key: privateKey, cert: certificate }

export interface ConnectProxy {
  readonly url: string
  /** `host:port` of every connection that it was asked for. */
  readonly targets: string[]
  /** What each of them showed. */
  readonly credentials: (string | undefined)[]
  close(): Promise<void>
}

interface ConnectProxyOptions {
  /** `user:password` that it asks for. */
  readonly credentials?: string
  readonly isTls?: boolean
  /** The local port behind each name that only the proxy knows. */
  readonly hosts: Readonly<Record<string, number>>
}

/** Starts a proxy that connects to names which nobody else can resolve. */
export async function startConnectProxy({
  credentials,
  isTls = false,
  hosts,
}: ConnectProxyOptions): Promise<ConnectProxy> {
  const targets: string[] = []
  const shown: (string | undefined)[] = []
  const sockets = new Set<Socket>()
  const server = isTls ? createTlsServer(TLS) : createServer()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket) => {
    const authorization = headers['proxy-authorization']
    targets.push(url)
    shown.push(authorization)
    client.on('error', () => {})
    const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
    if (expected !== undefined && authorization !== expected)
      return client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
    const port = hosts[url]
    if (port === undefined) return client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
    const upstream = connect({ host: '127.0.0.1', port }, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  const port = await listen(server)
  return {
    url: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`,
    targets,
    credentials: shown,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Starts a server that decrypts, with a certificate for localhost that nobody knows, and hands on to a local port. */
export async function startTlsFrontOf(port: number): Promise<{ port: number; close(): Promise<void> }> {
  const server = createTlsFront(TLS, (client) => {
    const upstream = connect({ host: '127.0.0.1', port })
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
    client.pipe(upstream).pipe(client)
  })
  return {
    port: await listen(server),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

interface Listening {
  listen(port: number, host: string, listener: () => void): unknown
  address(): AddressInfo | string | null
}

async function listen(server: Listening): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}
