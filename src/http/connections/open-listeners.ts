import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

interface ListenOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Whether other processes listen on the same port. */
  readonly sharePort: boolean
}

export interface Listeners {
  readonly host: string
  readonly port: number
  /** Stops accepting connections everywhere. */
  close(): void
}

/**
 * Each listener accepts one connection in a turn of the event loop. With slow turns a client would wait for seconds behind others, and
 * operators and health probes with it. Idle listeners cost nothing.
 */
const LISTENERS = 32
/** Connections that wait to be accepted, at each listener. */
const BACKLOG = 4_096
/** Where the kernel distributes the connections of a port over listeners. */
const CAN_SHARE = process.platform === 'linux'

/** Listens with the server and, where that is possible, with further listeners that give it their connections. */
export async function openListeners(http: HttpServer, options: ListenOptions): Promise<Listeners> {
  const { host, port, sharePort } = options
  const isShared = sharePort || CAN_SHARE
  // A shared port would be taken from another program of this user without an error.
  if (isShared && !sharePort && port !== 0) await requireFree(host, port)
  await listening(http, { host, port, reusePort: isShared })
  const bound = (http.address() as AddressInfo).port
  const further: Server[] = []
  if (CAN_SHARE)
    for (let count = 1; count < LISTENERS; count += 1) further.push(await addListener(http, host, bound))
  return {
    host,
    port: bound,
    close: () => {
      for (const server of further) server.close()
    },
  }
}

async function addListener(http: HttpServer, host: string, port: number): Promise<Server> {
  // The options with which Node's HTTP server accepts.
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.on('connection', (socket: Socket) => http.emit('connection', socket))
  await listening(server, { host, port, reusePort: true })
  return server
}

async function requireFree(host: string, port: number): Promise<void> {
  const probe = createHttpServer()
  await listening(probe, { host, port, reusePort: false })
  await new Promise<void>((resolve) => {
    probe.close(() => resolve())
  })
}

function listening(
  server: Server,
  options: { host: string; port: number; reusePort: boolean },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...options, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
