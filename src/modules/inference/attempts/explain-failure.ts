import { AppError, type ErrorCode } from '../../../kernel/app-error.ts'
import type { UpstreamError } from '../../../providers/failures/upstream-error.ts'

const RETRY_AFTER_SECONDS_DEFAULT = 2
const LOCAL_RETRY_AFTER_SECONDS = 1
const CONTEXT_LENGTH_PATTERN =
  /context[_ ](length|window)|maximum context|prompt is too long|too many (input )?tokens/i
/** Error codes of vendors for an account without credit or quota. */
const QUOTA_PATTERN = /insufficient[_ ]quota|quota[_ ]exceeded|billing|credit/i
const BLOCKED_PATTERN = /content[_ ](policy|filter|management)|safety|blocked/i

/** Codes that mean the same on the upstream's wire and on ours. */
const SHARED_CODES = ['missing_required_parameter', 'invalid_value', 'unsupported_parameter'] as const

/** The code of an injected failure that names none. */
const INJECTED_CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'invalid_api_key',
  402: 'insufficient_balance',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'request_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
  504: 'timeout',
  529: 'rate_limit_exceeded',
}

/** Returns the error for the client: its own mistakes in the upstream's words, all other failures in general words. */
export function explainFailure(error: UpstreamError): AppError {
  return error.details.isInjected === true ? explainInjected(error) : explainOwn(error)
}

/** The gateway handles an injected failure like a real one. Only the reported status, code and message are as ordered. */
function explainInjected(error: UpstreamError): AppError {
  const { code, message, param, retryAfterSeconds } = explainOwn(error)
  const { status = 500, upstreamMessage, upstreamCode, retryAfterSeconds: ordered } = error.details
  const seconds = ordered ?? retryAfterSeconds
  return new AppError(code, upstreamMessage ?? message, {
    ...(param !== null && { param }),
    ...(seconds !== null && { retryAfterSeconds: seconds }),
    injected: { status, code: upstreamCode ?? INJECTED_CODES[status] ?? codeOfFamily(status) },
    cause: error,
  })
}

function codeOfFamily(status: number): ErrorCode {
  return status < 500 ? 'invalid_request' : 'provider_error'
}

function explainOwn(error: UpstreamError): AppError {
  const { failure, provider, status = 0, upstreamMessage, upstreamCode = '', upstreamParam } = error.details
  if (error.isRequestAtFault) {
    const said = upstreamMessage ?? 'The provider refused the request.'
    const param = upstreamParam === undefined ? {} : { param: upstreamParam }
    const options = { ...param, cause: error }
    if (status === 413) return new AppError('request_too_large', said, options)
    if (CONTEXT_LENGTH_PATTERN.test(`${upstreamCode} ${said}`))
      return new AppError('context_length_exceeded', said, options)
    const known = SHARED_CODES.find((code) => code === upstreamCode)
    if (known) return new AppError(known, said, options)
    if (BLOCKED_PATTERN.test(upstreamCode)) return new AppError('prompt_blocked', said, options)
    return new AppError('invalid_request', said, options)
  }
  if (status === 429 || status === 529) return explainThrottling(error)
  if (failure === 'local') {
    return new AppError('service_unavailable', 'The gateway is short of resources. Try again shortly.', {
      retryAfterSeconds: LOCAL_RETRY_AFTER_SECONDS,
      cause: error,
    })
  }
  if (failure === 'timeout') {
    return new AppError('timeout', `The provider '${provider}' did not answer in time.`, { cause: error })
  }
  return new AppError('provider_error', `The provider '${provider}' ${DESCRIPTIONS[failure]}.`, {
    cause: error,
  })
}

/** A retry after the given time succeeds, unless the operator's own quota is used up. */
function explainThrottling(error: UpstreamError): AppError {
  const { provider, upstreamCode = '', retryAfterSeconds = RETRY_AFTER_SECONDS_DEFAULT } = error.details
  const options = { retryAfterSeconds, cause: error }
  if (QUOTA_PATTERN.test(upstreamCode)) {
    return new AppError('capacity_exhausted', `The provider '${provider}' has no capacity left.`, options)
  }
  const message = `The provider '${provider}' limits the rate of requests for now.`
  return new AppError('rate_limit_exceeded', message, options)
}

const DESCRIPTIONS = {
  connect: 'could not be reached',
  status: 'answered with an error',
  invalid_answer: 'answered with something that is not its protocol',
  cut: 'closed the connection before its answer was complete',
} as const
