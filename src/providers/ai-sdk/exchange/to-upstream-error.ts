import { APICallError } from '@ai-sdk/provider'

import { readErrorObject } from '../../failures/error-payload.ts'
import { UpstreamError, type UpstreamErrorDetails } from '../../failures/upstream-error.ts'
import { isRecord, parseJson, readNumber, readPath, readString } from './read-json.ts'
import { UntranslatableRequest } from '../request/untranslatable-request.ts'

const MESSAGE_CHARACTERS_MAX = 2_048

/** Converts any error of a vendor's package into an `UpstreamError`, the only error that a provider may throw. */
export function toUpstreamError(
  provider: string,
  error: unknown,
  { wasRequestSent, nowMs }: { wasRequestSent: boolean; nowMs: number },
): UpstreamError {
  if (error instanceof UpstreamError) return error
  if (error instanceof UntranslatableRequest) return refuse(provider, error.message, error)
  if (APICallError.isInstance(error)) return fromCallError(provider, error, nowMs)
  // The package could not express the request in the vendor's wire, for example because of an unsupported media type.
  if (!wasRequestSent) return refuse(provider, readMessage(error))
  return fromStreamError(provider, error)
}

function refuse(
  provider: string,
  message: string,
  at?: Pick<UntranslatableRequest, 'param' | 'code'>,
): UpstreamError {
  return new UpstreamError(`${provider} cannot be sent this request`, {
    failure: 'status',
    provider,
    status: 400,
    upstreamMessage: bound(message),
    ...(at === undefined ? {} : { upstreamParam: at.param, upstreamCode: at.code }),
  })
}

function fromCallError(provider: string, error: APICallError, nowMs: number): UpstreamError {
  const status = error.statusCode ?? 0
  const body = parseJson(error.responseBody ?? '')
  if (status < 400) {
    return new UpstreamError(`${provider} answered with something unexpected`, {
      failure: 'invalid_answer',
      provider,
      upstreamMessage: bound(readString(body, 'error', 'message') ?? error.message),
      cause: error.cause,
    })
  }
  const retryAfterSeconds = readRetryAfter(error.responseHeaders ?? {}, body, nowMs)
  // Some packages expect another error format than their vendor sends, and report only the status.
  const message = error.data === undefined ? readErrorObject(body)?.upstreamMessage : undefined
  return new UpstreamError(`${provider} answered ${status}`, {
    ...describeRefusal(
      provider,
      status,
      message ?? error.message,
      readString(body, 'error', 'status') ?? readString(body, 'error', 'type'),
    ),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

/** Converts an error in the middle of a stream: the vendor's own error event, or an event that violates its protocol. */
function fromStreamError(provider: string, error: unknown): UpstreamError {
  const status = readNumber(error, 'statusCode')
  const message = readMessage(error)
  if (status !== undefined && status >= 400) {
    return new UpstreamError(
      `${provider} broke off with ${status}`,
      describeRefusal(provider, status, message, readString(error, 'type')),
    )
  }
  const vendorMessage =
    isRecord(error) && !(error instanceof Error) ? { upstreamMessage: bound(message) } : {}
  return new UpstreamError(`${provider} sent something unexpected`, {
    failure: 'invalid_answer',
    provider,
    cause: error,
    ...vendorMessage,
  })
}

const CONTEXT_LENGTH_MESSAGE =
  /prompt is too long|exceeds the maximum number of tokens|context (window|limit)/i

function describeRefusal(
  provider: string,
  status: number,
  message: string,
  vendorCode: string | undefined,
): UpstreamErrorDetails {
  const isContextExceeded = status === 400 && CONTEXT_LENGTH_MESSAGE.test(message)
  const upstreamCode = isContextExceeded ? 'context_length_exceeded' : vendorCode
  return {
    failure: 'status',
    provider,
    status,
    ...(message === '' ? {} : { upstreamMessage: bound(message) }),
    ...(upstreamCode === undefined ? {} : { upstreamCode }),
  }
}

function readRetryAfter(headers: Record<string, string>, body: unknown, nowMs: number): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (milliseconds >= 0) return Math.ceil(milliseconds / 1000)
  const header = headers['retry-after']
  if (header !== undefined) {
    const seconds = Number(header)
    if (seconds >= 0) return Math.ceil(seconds)
    const dateMs = Date.parse(header)
    if (!Number.isNaN(dateMs)) return Math.max(0, Math.ceil((dateMs - nowMs) / 1000))
  }
  return readRetryInfo(readPath(body, 'error', 'details'))
}

// Google sends the retry delay in the body, as a duration such as `34.07s`.
function readRetryInfo(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(readString(detail, 'retryDelay') ?? '')?.[1]
    if (seconds !== undefined) return Math.ceil(Number(seconds))
  }
  return undefined
}

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : (readString(error, 'message') ?? '')
}

function bound(message: string): string {
  return message.slice(0, MESSAGE_CHARACTERS_MAX)
}
