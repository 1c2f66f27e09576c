import type { Exchange } from '../exchange.ts'
import { errorBodyOf, toErrorAnswer } from './error-envelope.ts'

/**
 * Sends an error without the framework.
 * @param headers alternating names and values
 */
export function sendError(exchange: Exchange, error: unknown, headers: string[]): void {
  const answer = toErrorAnswer(error, exchange.id, exchange.caller)
  const text = JSON.stringify(errorBodyOf(answer, exchange.wire))
  for (const [name, value] of Object.entries(answer.headers)) headers.push(name, value)
  headers.push(
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(Buffer.byteLength(text)),
  )
  if (!isReadSoon(exchange)) headers.push('connection', 'close')
  exchange.errorCode = answer.body.error.code
  exchange.errorMessage = answer.body.error.message
  exchange.response.writeHead(answer.status, headers).end(text)
}

/** The size limit of the fast path. A larger unread body would have to be read before the connection can be reused. */
const UNREAD_BYTES_MAX = 256 * 1024

function isReadSoon({ incoming: { complete, headers }, requestBytes }: Exchange): boolean {
  if (complete && requestBytes > 0) return true
  // Whether an unread body has arrived yet depends on timing, so only the head decides.
  const { 'content-length': length, 'transfer-encoding': coding, expect } = headers
  return coding === undefined && expect === undefined && Number(length ?? 0) <= UNREAD_BYTES_MAX
}
