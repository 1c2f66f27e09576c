import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A request as received by the upstream, and the connection to answer on. */
export interface RawRequest {
  readonly text: string
  readonly body: string
  readonly socket: Socket
  /** Counted from 1. */
  readonly connection: number
}

export interface RawUpstream {
  readonly origin: string
  readonly requests: readonly RawRequest[]
  readonly sockets: readonly Socket[]
  close(): Promise<void>
}

/** Starts an upstream that answers with any bytes, at a time that the test chooses. */
export async function startRawUpstream(
  answer: (request: RawRequest) => void,
  { server = createServer(), host = '127.0.0.1', scheme = 'http' }: Partial<UpstreamOptions> = {},
): Promise<RawUpstream> {
  const requests: RawRequest[] = []
  const sockets: Socket[] = []
  server.on(scheme === 'https' ? 'secureConnection' : 'connection', (socket: Socket) => {
    const connection = sockets.push(socket)
    let received = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const parts = takeRequest(received)
      if (parts === null) return
      received = Buffer.alloc(0)
      const request = { ...parts, socket, connection }
      requests.push(request)
      answer(request)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

interface UpstreamOptions {
  readonly server: Server
  readonly host: string
  readonly scheme: 'http' | 'https'
}

function takeRequest(received: Buffer): { text: string; body: string } | null {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const length = Number(/content-length: (\d+)/.exec(received.toString('latin1', 0, headEnd))?.[1])
  if (received.length < headEnd + 4 + length) return null
  return { text: received.toString(), body: received.toString('utf8', headEnd + 4) }
}

/** Returns a valid answer. */
export function plainAnswer(body: string, lines = ''): string {
  return `HTTP/1.1 200 OK\r\n${lines}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
