import type { Wire, WireError } from '../../wires/wire.ts'
import { seesBalance, type Caller } from '../../modules/keys/keys.ts'
import { AppError, type ErrorCode, type ErrorDetails, type InjectedFailure } from '../../kernel/app-error.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'api_error'
  | 'upstream_error'

/** The catalogue of errors. Only this file maps an error code to a status and a type. */
export const ERROR_CATALOGUE: Readonly<Record<ErrorCode, { status: number; type: ErrorType }>> = {
  invalid_json: { status: 400, type: 'invalid_request_error' },
  invalid_request: { status: 400, type: 'invalid_request_error' },
  missing_required_parameter: { status: 400, type: 'invalid_request_error' },
  invalid_value: { status: 400, type: 'invalid_request_error' },
  unsupported_parameter: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  previous_response_not_found: { status: 400, type: 'invalid_request_error' },
  prompt_blocked: { status: 400, type: 'invalid_request_error' },
  missing_tags: { status: 400, type: 'invalid_request_error' },
  invalid_promo_code: { status: 400, type: 'invalid_request_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  mismatched_organization: { status: 401, type: 'invalid_request_error' },
  mismatched_project: { status: 401, type: 'invalid_request_error' },
  invalid_session: { status: 401, type: 'authentication_error' },
  invalid_sign_in_code: { status: 401, type: 'authentication_error' },
  invalid_refresh_token: { status: 401, type: 'authentication_error' },
  sign_in_ended: { status: 401, type: 'authentication_error' },
  authorization_pending: { status: 400, type: 'invalid_request_error' },
  slow_down: { status: 400, type: 'invalid_request_error' },
  access_denied: { status: 400, type: 'invalid_request_error' },
  expired_token: { status: 400, type: 'invalid_request_error' },
  invalid_grant: { status: 400, type: 'invalid_request_error' },
  invalid_scope: { status: 400, type: 'invalid_request_error' },
  invalid_target: { status: 400, type: 'invalid_request_error' },
  unsupported_grant_type: { status: 400, type: 'invalid_request_error' },
  invalid_passkey: { status: 401, type: 'authentication_error' },
  insufficient_balance: { status: 402, type: 'billing_error' },
  key_limit_reached: { status: 402, type: 'billing_error' },
  budget_exceeded: { status: 402, type: 'billing_error' },
  deployment_budget_reached: { status: 402, type: 'billing_error' },
  forbidden: { status: 403, type: 'permission_error' },
  confirmation_required: { status: 403, type: 'permission_error' },
  model_not_allowed: { status: 403, type: 'permission_error' },
  account_suspended: { status: 403, type: 'permission_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  invalid_user_code: { status: 404, type: 'invalid_request_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  task_not_cancellable: { status: 409, type: 'invalid_request_error' },
  deployment_not_ready: { status: 409, type: 'invalid_request_error' },
  run_not_resumable: { status: 409, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'invalid_request_error' },
  promo_already_redeemed: { status: 409, type: 'invalid_request_error' },
  idempotency_in_progress: { status: 409, type: 'invalid_request_error' },
  precondition_failed: { status: 412, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  idempotency_key_reused: { status: 422, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  concurrency_limit_reached: { status: 429, type: 'rate_limit_error' },
  queue_full: { status: 429, type: 'rate_limit_error' },
  internal_error: { status: 500, type: 'api_error' },
  provider_error: { status: 502, type: 'upstream_error' },
  deployment_failed: { status: 502, type: 'upstream_error' },
  service_unavailable: { status: 503, type: 'api_error' },
  capacity_exhausted: { status: 503, type: 'api_error' },
  provider_not_configured: { status: 503, type: 'api_error' },
  deployment_waking: { status: 503, type: 'api_error' },
  timeout: { status: 504, type: 'api_error' },
}

function placeInjected({ status, code }: InjectedFailure): { status: number; type: ErrorType } {
  if (isErrorCode(code)) return { status, type: ERROR_CATALOGUE[code].type }
  return { status, type: status < 500 ? 'invalid_request_error' : 'upstream_error' }
}

/** Returns the type of an error that is part of an answer, such as the error of a task. */
export function errorTypeOf(code: string): ErrorType {
  return isErrorCode(code) ? ERROR_CATALOGUE[code].type : 'api_error'
}

/** Converts the error of a task into the answer to the request that waited for it. */
export function toldError({ code, message }: { readonly code: string; readonly message: string }): AppError {
  return new AppError(isErrorCode(code) ? code : 'provider_error', message)
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CATALOGUE, code)
}

export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly error: ErrorObject }
  /** Not part of the envelope: only some wires have a place for it. */
  readonly details: ErrorDetails | null
}

interface ErrorObject {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string
  readonly request_id: string
}

/** The pause that a 503 asks for if nothing better is known. */
const RETRY_AFTER_SECONDS_USUAL = 2

/**
 * Converts any thrown value into the error response. Only an `AppError` shows its message to the client.
 * @param caller the caller, if it is known: amounts of the account are not shown to a key that cannot manage it
 */
export function toErrorAnswer(
  error: unknown,
  requestId: string,
  caller?: Pick<Caller, 'permissions' | 'projectId'> | null,
): ErrorAnswer {
  const known = toAppError(error)
  const { status, type } =
    known.injected === null ? ERROR_CATALOGUE[known.code] : placeInjected(known.injected)
  const headers: Record<string, string> = { ...known.headers }
  // A retry does not change a key, a balance or a configuration. Without this header OpenAI's clients retry every 503, and Claude Code
  // retries a 401 for minutes before it asks the person to sign in again.
  const isFinal =
    status === 401 || status === 402 || known.code === 'provider_not_configured' || known.mayBeDone
  if (isFinal) headers['x-should-retry'] = 'false'
  const isShortage = status === 503 && !isFinal
  const retryAfterSeconds = known.retryAfterSeconds ?? (isShortage ? RETRY_AFTER_SECONDS_USUAL : null)
  if (retryAfterSeconds !== null) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterSeconds)))
  if (status === 401) headers['www-authenticate'] ??= 'Bearer'
  const { param, shownCode: code, details } = known
  const hidesAmounts = known.code === 'insufficient_balance' && caller && !seesBalance(caller)
  const message = hidesAmounts ? NO_CREDIT : known.message
  return { status, headers, body: { error: { message, type, param, code, request_id: requestId } }, details }
}

const NO_CREDIT =
  'The credit or a budget of the account does not cover this request. A key with the scope `manage` sees the amounts.'

/** Returns the error body in the client's wire format. */
export function errorBodyOf(answer: ErrorAnswer, wire: Wire): object {
  return wire.formatError(toWireError(answer))
}

export function toWireError({ status, body, details }: ErrorAnswer): WireError {
  const { request_id: requestId, ...error } = body.error
  return { ...error, status, requestId, details }
}

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  // The work was cancelled because its key is now refused.
  if (error instanceof ClientDisconnected && error.cause instanceof AppError) return error.cause
  if (isDependencyLoss(error))
    return new AppError('service_unavailable', DEPENDENCY_LOST, { retryAfterSeconds: 2, cause: error })
  const code = hasCode(error) ? (FRAMEWORK_CODES[error.code] ?? refusalOf(error)) : undefined
  if (code) return new AppError(code, FRAMEWORK_MESSAGES[code], { cause: error })
  return new AppError('internal_error', 'The gateway made a mistake. It has been logged.', { cause: error })
}

const DEPENDENCY_LOST =
  'A service that the gateway needs closed its connection, so the request was not finished.'
const RESET_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE'])
/** The message of Node's error for a request whose own client has gone. */
const CLIENT_GONE = 'aborted'

/** Whether another connection than that of the client was reset. */
export function isDependencyLoss(error: unknown): boolean {
  return hasCode(error) && RESET_CODES.has(error.code) && error.message !== CLIENT_GONE
}

type FrameworkCode =
  | 'request_too_large'
  | 'unsupported_media_type'
  | 'invalid_request'
  | 'not_found'
  | 'service_unavailable'

const FRAMEWORK_CODES = lookupTable<FrameworkCode>({
  FST_ERR_CTP_BODY_TOO_LARGE: 'request_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_BAD_URL: 'invalid_request',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  ECONNRESET: 'invalid_request',
  ECONNABORTED: 'invalid_request',
})

const FRAMEWORK_MESSAGES: Readonly<Record<FrameworkCode, string>> = {
  request_too_large: 'The request body is larger than this route allows.',
  unsupported_media_type: 'This route takes application/json.',
  invalid_request: 'The request is not well formed.',
  not_found: 'The path holds an id that is longer than any.',
  service_unavailable: 'The gateway is shutting down.',
}

/** Returns the code for other framework errors. They are client errors if their status is below 500. */
function refusalOf(error: Error & { code: string }): FrameworkCode | undefined {
  const isRefusal = 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500
  return error.code.startsWith('FST_ERR_') && isRefusal ? 'invalid_request' : undefined
}

function hasCode(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}
