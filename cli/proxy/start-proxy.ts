import {
  createServer,
  request as requestHttp,
  Agent,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { Connection } from '../profile/find-connection.ts'
import { findForeignOrigin, isLoopback } from './check-origin.ts'
import { headersForClient, headersForGateway } from './forwarded-headers.ts'
import { pinModel } from './pin-model.ts'

interface ProxyOptions {
  readonly connection: Pick<Connection, 'baseUrl' | 'apiKey'>
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
/** Of bodies whose model is replaced. All others are streamed. */
const PINNED_BYTES_MAX = 32 * 1024 * 1024
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
    if (foreign !== null) return refuse(response, 403, 'forbidden_origin', foreign)
    if (request.url?.startsWith('/') !== true)
      return refuse(response, 400, 'invalid_request', 'The path of the request must begin with a slash.')
    return void forward({ request, response, target, agent, options })
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
  const { connection, model } = options
  const path = request.url ?? '/'
  let headers = headersForGateway(request.rawHeaders, connection.apiKey)
  let body: Buffer | null = null
  if (model !== null && isJson(request)) {
    const whole = await readWhole(request).catch(() => undefined)
    if (whole === undefined) return void response.destroy()
    if (whole === null)
      return refuse(response, 413, 'body_too_large', `The body is larger than ${PINNED_BYTES_MAX} bytes.`)
    body = pinModel(whole, path, model) ?? whole
    headers = [...withoutLength(headers), 'Content-Length', String(body.length)]
  }
  const outgoing = (target.protocol === 'https:' ? requestHttps : requestHttp)({
    agent,
    host: target.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: target.port,
    path: `${target.pathname.replace(/\/$/, '')}${path}`,
    method: request.method ?? 'GET',
    headers: [...headers, 'Host', target.host],
  })
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(
      () => outgoing.destroy(new Error('the connection took too long')),
      CONNECT_MS_MAX,
    )
    for (const event of ['connect', 'close'] as const) socket.once(event, () => clearTimeout(timer))
  })
  outgoing.on('error', (error) => {
    if (response.headersSent || response.destroyed) response.destroy()
    else refuse(response, 502, 'gateway_unreachable', `${target.origin} does not answer: ${error.message}`)
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
  if (body === null) pipeline(request, outgoing).catch(() => {})
  else outgoing.end(body)
}

const isJson = ({ method, headers }: IncomingMessage): boolean =>
  method === 'POST' &&
  /^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '') &&
  headers['content-encoding'] === undefined

/** Returns null for a body that is too large. */
async function readWhole(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length > PINNED_BYTES_MAX) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const withoutLength = (headers: readonly string[]): string[] =>
  headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== 'content-length')

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
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
