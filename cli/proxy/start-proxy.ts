import {
  createServer,
  request as requestHttp,
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { Connection } from '../profile/find-connection.ts'
import { BodyRefused } from './body-refused.ts'
import { findForeignOrigin, isLoopback } from './check-origin.ts'
import { headersForClient, headersForGateway } from './forwarded-headers.ts'
import { pinModel } from './pin-model.ts'

interface ProxyOptions {
  readonly connection: Pick<Connection, 'baseUrl' | 'apiKey'>
  /** The key at the moment: tokens of people expire. Absent: that of the connection. */
  readonly readKey?: () => Promise<string>
  readonly host: string
  readonly port: number
  readonly allowedHosts: readonly string[]
  /** The model of all requests, or null. */
  readonly model: string | null
}

export interface Proxy {
  readonly url: string
  /** Takes no more requests, lets running ones finish for a while, and ends. */
  close(): Promise<void>
}

const CONNECTIONS_MAX = 1_000
const CONNECT_MS_MAX = 10_000
const CLOSE_MS_MAX = 10_000

/** Starts a server that sends every request on to the gateway with the key of the profile, and the answer back byte by byte. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { host, port } = options
  const target = new URL(options.connection.baseUrl)
  const agent = new (target.protocol === 'https:' ? SecureAgent : Agent)({ keepAlive: true })
  const policy = { isLocal: isLoopback(host), allowedHosts: options.allowedHosts }
  // Uploads and streams may take as long as the gateway lets them.
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    response.on('close', () => {
      if (!server.listening) server.closeIdleConnections()
    })
    const foreign = findForeignOrigin(request.headers, policy)
    if (foreign !== null) return refuse(response, { status: 403, code: 'forbidden_origin', message: foreign })
    if (request.url?.startsWith('/') !== true)
      return refuse(response, {
        status: 400,
        code: 'invalid_request',
        message: 'The path of the request must begin with a slash.',
      })
    forward({ request, response, target, agent, options }).catch((error: unknown) => {
      // The client has left while it sent its body, unless the body is refused.
      if (error instanceof BodyRefused) refuse(response, error)
      else response.destroy()
    })
  })
  server.maxConnections = CONNECTIONS_MAX
  server.on('upgrade', (_, socket) => {
    socket.on('error', () => {})
    const body = errorBody('upgrade_not_supported', 'The API has no WebSockets.')
    socket.end(
      `HTTP/1.1 501 Not Implemented\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, done)
  })
  return {
    url: addressOf(host, (server.address() as AddressInfo).port),
    close: () =>
      new Promise((done) => {
        const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX)
        server.close(() => {
          clearTimeout(timer)
          agent.destroy()
          done()
        })
        server.closeIdleConnections()
      }),
  }
}

const addressOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

interface Forwarded {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly target: URL
  readonly agent: Agent | SecureAgent
  readonly options: ProxyOptions
}

async function forward({ request, response, target, agent, options }: Forwarded): Promise<void> {
  const { connection, model, readKey } = options
  // If it cannot be replaced, the gateway says why the former one is refused.
  const apiKey = (await readKey?.().catch(() => null)) ?? connection.apiKey
  const asked = request.url ?? '/'
  const pinned = model === null ? { path: asked, body: null } : await pinModel(request, asked, model)
  const { path, body } = pinned
  const outgoing = (target.protocol === 'https:' ? requestHttps : requestHttp)({
    agent,
    host: target.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: target.port,
    path: `${target.pathname.replace(/\/$/, '')}${path}`,
    method: request.method ?? 'GET',
    headers: [...describeBody(headersForGateway(request.rawHeaders, apiKey), body), 'Host', target.host],
  })
  limitConnecting(outgoing)
  outgoing.on('error', (error) => {
    if (response.headersSent || response.destroyed) response.destroy()
    else {
      const message = `${target.origin} does not answer: ${error.message}`
      refuse(response, { status: 502, code: 'gateway_unreachable', message })
    }
  })
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, headersForClient(answer.rawHeaders))
    // The head of a stream must not wait for its first event.
    response.flushHeaders()
    // An answer that breaks off breaks off here too: `pipeline` destroys the connection of the client.
    pipeline(answer, response).catch(() => {})
  })
  // A client that leaves ends the work at the gateway.
  response.on('close', () => outgoing.destroy())
  if (body instanceof Buffer) outgoing.end(body)
  else
    await pipeline(body ?? request, outgoing).catch((error: unknown) => {
      // Everything else ends the answer too, and is reported there.
      if (error instanceof BodyRefused) throw error
    })
}

function limitConnecting(outgoing: ClientRequest): void {
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(
      () => outgoing.destroy(new Error('the connection took too long')),
      CONNECT_MS_MAX,
    )
    for (const event of ['connect', 'close'] as const) socket.once(event, () => clearTimeout(timer))
  })
}

/** The length of a body that is changed while it arrives is not known. Node then sends it in chunks. */
function describeBody(headers: readonly string[], body: Buffer | AsyncIterable<Buffer> | null): string[] {
  if (body === null) return [...headers]
  const kept = withoutLength(headers)
  return body instanceof Buffer ? [...kept, 'Content-Length', String(body.length)] : kept
}

const withoutLength = (headers: readonly string[]): string[] =>
  headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== 'content-length')

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  if (response.headersSent) return void response.destroy()
  const body = errorBody(code, message)
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body)
}

/** As the gateway writes errors, so that clients understand it. */
const errorBody = (code: string, message: string): string =>
  JSON.stringify({ error: { message, type: 'proxy_error', param: null, code } })
