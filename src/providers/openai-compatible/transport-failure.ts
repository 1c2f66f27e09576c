import { shortageCodeOf } from '../failures/shortage-code.ts'
import { UpstreamError, type UpstreamFailure } from '../failures/upstream-error.ts'
import { Http1Error } from './upstream-http1/http1-error.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

const FAILURES = lookupTable<UpstreamFailure>({
  UND_ERR_CONNECT_TIMEOUT: 'connect',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_answer',
  UND_ERR_RESPONSE_STATUS_CODE: 'invalid_answer',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'cut',
  UND_ERR_SOCKET: 'cut',
  ECONNRESET: 'cut',
  EPIPE: 'cut',
})

/** Converts an error of the HTTP/1 client, undici or the system into an `UpstreamError`. */
export function describeTransportFailure(
  provider: string,
  error: Error,
  hasAnswered: boolean,
): UpstreamError {
  if (error instanceof UpstreamError) return error
  const shortageCode = hasAnswered ? null : shortageCodeOf(error)
  if (shortageCode !== null) {
    const details = { failure: 'local', upstreamCode: shortageCode, provider, cause: error } as const
    return new UpstreamError(`${provider}: ${error.message}`, details)
  }
  const failure = error instanceof Http1Error ? error.failure : readCode(error, hasAnswered)
  return new UpstreamError(`${provider}: ${error.message}`, { failure, provider, cause: error })
}

function readCode(error: Error, hasAnswered: boolean): UpstreamFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return FAILURES[code] ?? (code.startsWith('HPE_') ? 'invalid_answer' : hasAnswered ? 'cut' : 'connect')
}
