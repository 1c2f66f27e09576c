import { isRecord } from '../../kernel/is-record.ts'
import { UpstreamError } from './upstream-error.ts'

const MESSAGE_LENGTH_MAX = 2000

/** Reads an error from an answer whose HTTP status signals success. Null if the answer has none. */
export function readErrorPayload(provider: string, payload: unknown): UpstreamError | null {
  const said = readErrorObject(payload)
  if (said === null) return null
  const status = said.upstreamStatus ?? 500
  return new UpstreamError(`${provider} failed: ${said.upstreamMessage ?? 'no reason given'}`, {
    failure: 'status',
    provider,
    status,
    ...said,
  })
}

interface SaidError {
  upstreamMessage?: string
  upstreamCode?: string
  upstreamParam?: string
  upstreamStatus?: number
}

export function readErrorObject(payload: unknown): SaidError | null {
  if (!isRecord(payload)) return null
  const error = payload['error'] ?? (payload['object'] === 'error' ? payload : undefined)
  if (error === undefined || error === null) return 'choices' in payload ? null : readBareMessage(payload)
  if (typeof error === 'string') return { upstreamMessage: bound(error) }
  if (!isRecord(error)) return { upstreamMessage: bound(JSON.stringify(error)) }
  const { message, code, type, param } = error
  return {
    ...(typeof message === 'string' ? { upstreamMessage: bound(message) } : {}),
    ...(typeof code === 'string'
      ? { upstreamCode: code }
      : typeof type === 'string'
        ? { upstreamCode: type }
        : {}),
    ...(typeof param === 'string' ? { upstreamParam: param } : {}),
    ...(typeof code === 'number' && code >= 400 && code < 600 ? { upstreamStatus: code } : {}),
  }
}

// Mistral, FastAPI servers, Deepgram, ElevenLabs and others send the message outside an `error` object.
function readBareMessage(payload: Record<string, unknown>): SaidError | null {
  const said = payload['message'] ?? payload['detail'] ?? payload['err_msg']
  const message = isRecord(said) ? (said['message'] ?? said) : said
  if (message === undefined) return null
  return { upstreamMessage: bound(typeof message === 'string' ? message : JSON.stringify(message)) }
}

function bound(text: string): string {
  return text.slice(0, MESSAGE_LENGTH_MAX)
}
