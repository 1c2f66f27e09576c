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
  // Nothing is overloaded: waiting does not help.
  if (code === 'provider_not_configured') return 'api_error'
  return ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

/** The type of an event, which every vendor of this wire writes first. */
const TYPE_FIRST = /^\{"type":\s?"(\w+)"/
const TYPE_LENGTH_MAX = 64

const EVENTS: StreamWriter = {
  write: (batch) =>
    Buffer.concat(
      batch.flatMap((payload) => [Buffer.from(`event: ${typeOf(payload)}\ndata: `), payload, FRAME_END]),
    ),
  // The last event of a message is its end.
  end: () => NOTHING,
}

const FRAME_END = Buffer.from('\n\n')
const NOTHING = Buffer.alloc(0)

function typeOf(payload: Buffer): string {
  const first = TYPE_FIRST.exec(payload.toString('latin1', 0, TYPE_LENGTH_MAX))?.[1]
  if (first !== undefined) return first
  const { type } = JSON.parse(payload.toString())
  return String(type)
}

/** Anthropic's Messages. */
export const messagesWire: Wire = {
  id: 'anthropic-messages',
  formatError: (error) => ({
    type: 'error',
    error: { type: errorTypeOf(error), message: error.message, code: error.code, param: error.param },
    request_id: error.requestId,
  }),
  frameError: (payload) => `event: error\ndata: ${payload}\n\n`,
  keepAlive: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'),
  streamEnd: Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\n'),
  headersOf: (requestId) => ['request-id', requestId],
  openStream: () => EVENTS,
}
