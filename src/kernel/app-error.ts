/** All error codes that clients can receive. `http/answers/error-envelope.ts` maps each to a status and a type. */
export type ErrorCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'missing_required_parameter'
  | 'invalid_value'
  | 'unsupported_parameter'
  | 'context_length_exceeded'
  | 'prompt_blocked'
  | 'previous_response_not_found'
  | 'invalid_promo_code'
  | 'missing_tags'
  | 'invalid_api_key'
  | 'invalid_session'
  | 'mismatched_organization'
  | 'mismatched_project'
  | 'invalid_sign_in_code'
  | 'sign_in_ended'
  | 'invalid_refresh_token'
  | 'invalid_user_code'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'invalid_passkey'
  | 'insufficient_balance'
  | 'key_limit_reached'
  | 'budget_exceeded'
  | 'deployment_budget_reached'
  | 'forbidden'
  | 'confirmation_required'
  | 'model_not_allowed'
  | 'account_suspended'
  | 'model_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'upgrade_required'
  | 'task_not_cancellable'
  | 'deployment_not_ready'
  | 'run_not_resumable'
  | 'conflict'
  | 'promo_already_redeemed'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused'
  | 'precondition_failed'
  | 'request_timeout'
  | 'request_too_large'
  | 'unsupported_media_type'
  | 'rate_limit_exceeded'
  | 'concurrency_limit_reached'
  | 'queue_full'
  | 'internal_error'
  | 'provider_error'
  | 'deployment_failed'
  | 'service_unavailable'
  | 'capacity_exhausted'
  | 'provider_not_configured'
  | 'deployment_waking'
  | 'timeout'

export interface AppErrorOptions {
  /** The invalid request field; nested ones as `messages.0.content`. */
  param?: string
  /** Sent as `retry-after`. */
  retryAfterSeconds?: number
  /** Further response headers, such as `allow`. */
  headers?: Record<string, string>
  /** The work may have been done or charged although the request failed. Sending it again may do it twice. */
  mayBeDone?: boolean
  /** Sending it again is safe under the same request id, as with a repeated Idempotency-Key. */
  isOnceByRequestId?: boolean
  /** Replaces the status and the code that the client receives. */
  injected?: InjectedFailure
  /** Further members that only some wires have: clients of Anthropic's act on `error.details.error_code`, those of SCIM on `scimType`. */
  details?: ErrorDetails
  /** For the log only; never shown to a client. */
  cause?: unknown
}

export type ErrorDetails = Readonly<Record<string, string | readonly string[]>>

/** A failure that a client has requested from the sandbox. */
export interface InjectedFailure {
  readonly status: number
  readonly code: string
}

/** An error whose message clients may read. Any other thrown error is a defect and becomes an internal error. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly param: string | null
  readonly retryAfterSeconds: number | null
  readonly headers: Record<string, string>
  readonly mayBeDone: boolean
  readonly isOnceByRequestId: boolean
  readonly injected: InjectedFailure | null
  readonly details: ErrorDetails | null

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.param = options.param ?? null
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
    this.headers = options.headers ?? {}
    this.mayBeDone = options.mayBeDone ?? false
    this.isOnceByRequestId = options.isOnceByRequestId ?? false
    this.injected = options.injected ?? null
    this.details = options.details ?? null
  }

  /** The code that the client receives. The gateway itself uses `code`. */
  get shownCode(): string {
    return this.injected?.code ?? this.code
  }
}

export function invalidValue(param: string, message: string): AppError {
  return new AppError('invalid_value', message, { param })
}

/** Returns the same error for objects that do not exist and for objects of another account. */
export function notFound(what: string): AppError {
  return new AppError('not_found', `No such ${what}.`)
}

export function modelNotFound(modelId: string, successor?: string): AppError {
  const message =
    successor === undefined
      ? `The model '${modelId}' does not exist or you do not have access to it.`
      : `The model '${modelId}' has ended. Use '${successor}' instead.`
  return new AppError('model_not_found', message, { param: 'model' })
}
