import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { connect, createServer, type Server as NetServer } from 'node:net'

/** A proxy that passes on tunnels, and adds the address of each to `targets`. */
export function createHttpProxy(targets: string[]): Server {
  const proxy = createHttpServer()
  proxy.on('connect', ({ url = '' }: IncomingMessage, client) => {
    targets.push(url)
    const upstream = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  return proxy
}

/** Understands the two messages that a client without a password sends (RFC 1928), with an IPv4 address. */
export function createSocksProxy(targets: string[]): NetServer {
  return createServer((client) => {
    client.once('data', () => {
      client.write(Buffer.from([5, 0]))
      client.once('data', (message) => {
        const bytes = Buffer.from(message)
        const target = bytes.readUInt16BE(8)
        targets.push(`${bytes.subarray(4, 8).join('.')}:${target}`)
        const upstream = connect(target, '127.0.0.1', () => {
          client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
          upstream.pipe(client).pipe(upstream)
        })
        client.on('error', () => upstream.destroy())
        upstream.on('error', () => client.destroy())
      })
    })
  })
}
