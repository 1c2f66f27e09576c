import { isRecord } from '../../../kernel/is-record.ts'
import { readErrorObject } from '../../../providers/failures/error-payload.ts'
import { UpstreamError, invalidAnswer } from '../../../providers/failures/upstream-error.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'
import { parseOrNull } from './parse-answer.ts'

/**
 * Checks a parsed answer or event of a wire whose errors have the type `error`. Throws an `UpstreamError` for an error, and for
 * anything that is not an object.
 */
export function checkEventPayload(provider: string, value: unknown): Record<string, unknown> {
  const members = requireObject(provider, value)
  if (members['type'] === 'error') throw readFailure(provider, members)
  return members
}

export function readEventPayload(provider: string, text: string): Record<string, unknown> {
  return checkEventPayload(provider, parseOrNull(text))
}

/** Parses without checking for an error. */
export function parseEventPayload(provider: string, text: string): Record<string, unknown> {
  return requireObject(provider, parseOrNull(text))
}

function requireObject(provider: string, value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw invalidAnswer(provider, 'it sent something that is not a JSON object')
  return value
}

/**
 * Statuses for the error types and codes in events, which have no HTTP status. Any other error counts as the upstream's fault.
 */
const STATUSES = lookupTable<number>({
  invalid_request_error: 400,
  invalid_prompt: 400,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  timeout_error: 504,
  overloaded_error: 529,
})

/** Reads the error of an event, which has it beside its type or in an `error` object. */
export function readFailure(provider: string, members: Record<string, unknown>): UpstreamError {
  const said = readErrorObject(isRecord(members['error']) ? members : { error: members })
  if (said === null) return invalidAnswer(provider, 'it failed without a reason')
  const { upstreamStatus, upstreamCode = '', upstreamMessage = 'no reason given' } = said
  const status = upstreamStatus ?? STATUSES[upstreamCode] ?? 500
  return new UpstreamError(`${provider} failed: ${upstreamMessage}`, {
    failure: 'status',
    provider,
    status,
    ...said,
  })
}
