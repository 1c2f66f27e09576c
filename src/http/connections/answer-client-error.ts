import { ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError, type ErrorCode } from '../../kernel/app-error.ts'
import { createToken } from '../../kernel/identifiers.ts'
import { toErrorAnswer } from '../answers/error-envelope.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

const CODES = lookupTable<ErrorCode>({
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'request_too_large',
})

const MESSAGES = lookupTable<string>({
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
  HPE_HEADER_OVERFLOW: 'The headers of the request are too large.',
})

/** Sockets whose error answer waits for the answer to an earlier request. */
const waiting = new WeakSet<Socket>()

/** Answers invalid HTTP and requests that arrive too slowly with the usual error envelope. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (waiting.has(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const earlier = error.code?.startsWith('HPE_') === true ? findEarlierAnswer(socket) : null
  if (earlier !== null) {
    waiting.add(socket)
    earlier.once('close', () =>
      setImmediate(() => {
        waiting.delete(socket)
        answerClientError(error, socket)
      }),
    )
    return
  }
  const code = CODES[error.code ?? ''] ?? 'invalid_request'
  const message = MESSAGES[error.code ?? ''] ?? 'This is not a well-formed HTTP request.'
  writeErrorAnswer(socket, new AppError(code, message))
}

/** Returns the answer to an earlier, complete request that is still being written. Node stores it in the socket. */
function findEarlierAnswer(socket: Socket): ServerResponse | null {
  const answer: unknown = '_httpMessage' in socket ? socket._httpMessage : null
  return answer instanceof ServerResponse && answer.req.complete ? answer : null
}

/** Writes an error answer for a request that was not read. Closes the connection. */
export function writeErrorAnswer(socket: Socket, error: AppError): void {
  const { status, headers, body } = toErrorAnswer(error, createToken('req_'))
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    `x-request-id: ${body.error.request_id}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
}
