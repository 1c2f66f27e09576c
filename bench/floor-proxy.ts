/**
 * The lower bound for any gateway on Node: the bare proxy, optimised by hand. Uses undici's lowest interface and passes small
 * bodies on as one buffer. `node bench/floor-proxy.ts <port> <upstream port>`.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

const [port, upstreamPort] = process.argv.slice(2).map(Number)
const upstream = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 4096, pipelining: 1 })
const SMALL_BODY_BYTES_MAX = 64 * 1024
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding'])

const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, proxyRequest)
server.listen({ port, host: '127.0.0.1', backlog: 4096 })
process.on('SIGTERM', () => process.exit(0))
process.on('disconnect', () => process.exit(0))

function proxyRequest(request: IncomingMessage, response: ServerResponse): void {
  const lengthBytes = Number(request.headers['content-length'])
  if (lengthBytes <= SMALL_BODY_BYTES_MAX) collectBody(request, (body) => forward(request, body, response))
  else forward(request, request, response)
}

/** undici sends a complete body at much lower cost than a stream, and nearly every chat request is small. */
function collectBody(request: IncomingMessage, onBody: (body: Buffer) => void): void {
  const parts: Buffer[] = []
  request.on('data', (bytes: Buffer) => parts.push(bytes))
  request.on('end', () =>
    onBody(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)),
  )
}

function forward(request: IncomingMessage, body: Buffer | IncomingMessage, response: ServerResponse): void {
  const { authorization = '', 'content-type': contentType = '' } = request.headers
  upstream.dispatch(
    {
      method: 'POST',
      path: request.url ?? '/',
      headers: ['authorization', authorization, 'content-type', contentType],
      body,
    },
    forwardAnswer(response),
  )
}

/** Uses undici's lowest interface; the interfaces above it cost more per request. */
function forwardAnswer(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller) => {
      response.on('drain', () => controller.resume())
      response.on('close', () => {
        if (!response.writableFinished) controller.abort(new Error('the client left'))
      })
    },
    onResponseStart: (_controller, statusCode, headers) => {
      response.writeHead(statusCode, withoutHopByHop(headers))
    },
    onResponseData: (controller, bytes) => {
      if (!response.write(bytes)) controller.pause()
    },
    onResponseEnd: () => void response.end(),
    onResponseError: () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    },
  }
}

function withoutHopByHop(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && !HOP_BY_HOP.has(name)) kept[name] = value
  }
  return kept
}
