import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorPayload } from '../../providers/error-payload.ts'
import { garbage } from './answer-payload.ts'

/** An answer or an event of a wire that has errors of the type `error`. Throws an `UpstreamError` for those, and for no JSON. */
export function readEventPayload(provider: string, text: string): Record<string, unknown> {
  let members: unknown
  try {
    members = parseJson(text)
  } catch {
    members = null
  }
  if (!isRecord(members)) throw garbage(provider, 'it sent something that is not a JSON object')
  if (members['type'] !== 'error' && members['type'] !== 'response.failed') return members
  const failed = isRecord(members['response']) ? members['response'] : members
  throw (
    readErrorPayload(provider, isRecord(failed['error']) ? failed : { error: failed }) ??
    garbage(provider, 'it failed without a reason')
  )
}
