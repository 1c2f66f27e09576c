import { endsWith } from '../ends-with.ts'
import { frameEvents } from '../frame-events.ts'
import type { StreamWriter, Wire, WireError } from '../wire.ts'

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function errorTypeOf({ status, code }: WireError): string {
  // Not `overloaded_error`, because waiting does not help.
  if (code === 'provider_not_configured') return 'api_error'
  return ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

function formatError(error: WireError): object {
  const { message, code, param, requestId, details } = error
  const known = { type: errorTypeOf(error), message, code, param }
  return {
    type: 'error',
    error: details === null ? known : { ...known, details },
    request_id: requestId,
  }
}

const EVENTS: StreamWriter = {
  write: frameEvents,
  // The last event of a message ends the stream.
  end: () => NOTHING,
  fail: (error) => `event: error\ndata: ${JSON.stringify(formatError(error))}\n\n`,
}

const NOTHING = Buffer.alloc(0)
const MESSAGE_STOP = Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\n')

/** Anthropic's Messages API. */
export const messagesWire: Wire = {
  id: 'anthropic-messages',
  formatError,
  keepAlive: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'),
  isWholeStream: (lastFrames) => endsWith(lastFrames, MESSAGE_STOP),
  headersOf: (requestId) => ['request-id', requestId],
  openStream: () => EVENTS,
}
