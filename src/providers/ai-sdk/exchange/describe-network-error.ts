import { errors } from 'undici'

import { shortageCodeOf } from '../../failures/shortage-code.ts'
import type { UpstreamErrorDetails } from '../../failures/upstream-error.ts'

const NO_CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNABORTED',
])

/** Classifies a connection error that occurred before the upstream answered. */
export function describeNetworkError(
  provider: string,
  error: unknown,
): [message: string, details: Omit<UpstreamErrorDetails, 'provider'>] {
  const shortageCode = shortageCodeOf(error)
  if (shortageCode !== null) {
    const message = `no connection to ${provider}: ${shortageCode}`
    return [message, { failure: 'local', upstreamCode: shortageCode, cause: error }]
  }
  const code = readErrorCode(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return [`no connection to ${provider} in time`, { failure: 'timeout', cause: error }]
  }
  if (error instanceof errors.HTTPParserError) {
    return [`${provider} did not answer in HTTP`, { failure: 'invalid_answer', cause: error }]
  }
  if (NO_CONNECTION_CODES.has(code) || /CERT|TLS|SSL/.test(code)) {
    return [`no connection to ${provider}`, { failure: 'connect', cause: error }]
  }
  return [`the connection to ${provider} was cut`, { failure: 'cut', cause: error }]
}

// An attempt over several addresses fails with one `AggregateError`.
function readErrorCode(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : ''
}
