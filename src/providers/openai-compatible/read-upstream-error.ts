import { UpstreamError } from '../upstream-error.ts'
import type { ResponseHeaders } from './exchange.ts'
import { parseRetryAfter } from '../parse-retry-after.ts'

const MESSAGE_LENGTH_MAX = 2000

interface ErrorResponse {
  readonly provider: string
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: Buffer
}

/** Reads whatever an upstream says when it fails: OpenAI's envelope, a near relative of it, or an HTML page. */
export function readUpstreamError({ provider, status, headers, body }: ErrorResponse): UpstreamError {
  const said = readErrorObject(parseJson(body)) ?? {}
  const retryAfterSeconds = parseRetryAfter(headers['retry-after'])
  return new UpstreamError(`${provider} answered ${status}${said.upstreamMessage ? `: ${said.upstreamMessage}` : ''}`, {
    failure: 'status',
    provider,
    status,
    ...said,
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  })
}

/** An error inside an answer that claims to have succeeded. */
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

function readErrorObject(payload: unknown): SaidError | null {
  if (!isRecord(payload)) return null
  const error = payload['error'] ?? (payload['object'] === 'error' ? payload : undefined)
  if (error === undefined || error === null) return 'choices' in payload ? null : readBareMessage(payload)
  if (typeof error === 'string') return { upstreamMessage: bound(error) }
  if (!isRecord(error)) return { upstreamMessage: bound(JSON.stringify(error)) }
  const { message, code, type, param } = error
  return {
    ...(typeof message === 'string' ? { upstreamMessage: bound(message) } : {}),
    ...(typeof code === 'string' ? { upstreamCode: code } : typeof type === 'string' ? { upstreamCode: type } : {}),
    ...(typeof param === 'string' ? { upstreamParam: param } : {}),
    ...(typeof code === 'number' && code >= 400 && code < 600 ? { upstreamStatus: code } : {}),
  }
}

// Mistral, FastAPI servers and others name their reason beside the envelope.
function readBareMessage(payload: Record<string, unknown>): SaidError | null {
  const message = payload['message'] ?? payload['detail']
  if (message === undefined) return null
  return { upstreamMessage: bound(typeof message === 'string' ? message : JSON.stringify(message)) }
}

function bound(text: string): string {
  return text.slice(0, MESSAGE_LENGTH_MAX)
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
