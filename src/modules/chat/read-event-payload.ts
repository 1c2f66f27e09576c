import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorObject } from '../../providers/error-payload.ts'
import { UpstreamError, invalidAnswer } from '../../providers/upstream-error.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

/**
 * Parses an answer or an event of a wire whose errors have the type `error`. Throws an `UpstreamError` for an error, and if the
 * text is not a JSON object.
 */
export function readEventPayload(provider: string, text: string): Record<string, unknown> {
  const members = parseEventPayload(provider, text)
  if (members['type'] === 'error') throw readFailure(provider, members)
  return members
}

/** Parses without checking for an error. */
export function parseEventPayload(provider: string, text: string): Record<string, unknown> {
  let members: unknown
  try {
    members = parseJson(text)
  } catch {
    members = null
  }
  if (!isRecord(members)) throw invalidAnswer(provider, 'it sent something that is not a JSON object')
  return members
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
