import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import { createToken } from '../../kernel/identifiers.ts'
import { toErrorAnswer } from '../answers/error-envelope.ts'

/** A name or an address, and a port. A list would be read differently by the servers in between. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i

export function isHost(value: string): boolean {
  return HOST.test(value)
}

/**
 * Answers a request that does not name its host exactly once with 400, as HTTP/1.1 demands: servers in between may choose
 * another one of two. Returns whether it did. Node's server would answer a missing host without a body.
 */
export function refuseBadHost(incoming: IncomingMessage, response: ServerResponse): boolean {
  const problem = findProblem(incoming)
  if (problem === null) return false
  const { status, headers, body } = toErrorAnswer(
    new AppError('invalid_request', problem),
    createToken('req_'),
  )
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': body.error.request_id,
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(text)
  return true
}

function findProblem({ rawHeaders, httpVersion, headers: { host } }: IncomingMessage): string | null {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) return 'The request has more than one Host header.'
  if (host === undefined) return httpVersion === '1.0' ? null : 'The request has no Host header.'
  return isHost(host) ? null : 'The Host header is not valid.'
}
