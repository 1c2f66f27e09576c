/**
 * A bare proxy as one writes it from the documentation: a `node:http` server, undici's `request` to the upstream, bytes streamed
 * both ways, and nothing else. `node bench/bare-proxy.ts <port> <upstream port>`.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Pool } from 'undici'

const [port, upstreamPort] = process.argv.slice(2).map(Number)
const upstream = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 4096, pipelining: 1 })

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  proxyRequest(request, response).catch(() => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  })
})
server.listen({ port, host: '127.0.0.1', backlog: 4096 })
process.on('SIGTERM', () => process.exit(0))
process.on('disconnect', () => process.exit(0))

async function proxyRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { authorization = '', 'content-type': contentType = '', 'content-length': length } = request.headers
  const answer = await upstream.request({
    method: 'POST',
    path: request.url ?? '/',
    headers: { authorization, 'content-type': contentType, ...(length ? { 'content-length': length } : {}) },
    body: request,
  })
  const { connection: _connection, 'keep-alive': _keepAlive, ...headers } = answer.headers
  response.writeHead(answer.statusCode, headers)
  await pipeline(answer.body, response)
}
