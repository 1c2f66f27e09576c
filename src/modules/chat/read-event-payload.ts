import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorObject } from '../../providers/error-payload.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import { invalidAnswer } from './answer-payload.ts'

/** An answer or an event of a wire that has errors of the type `error`. Throws an `UpstreamError` for those, and for no JSON. */
export function readEventPayload(provider: string, text: string): Record<string, unknown> {
  const members = parseEventPayload(provider, text)
  if (members['type'] === 'error') throw readFailure(provider, members)
  return members
}

/** The same without a look at what it says. */
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

/** What the types and codes of errors in an event stand for, which come without a status. Others are the upstream's own fault. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Of an event that tells it beside its type, or in an object of its own. */
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
