import { isRecord } from '../../../kernel/is-record.ts'
import type { Files } from '../../files/files.ts'
import type { Place } from '../../../storage/place.ts'
import { splitLines } from '../lines/split-lines.ts'
import { openResults, RESULT_LINE_BYTES_MAX } from './open-results.ts'

/** The lines of the files of results in the form of Anthropic's Message Batches. Throws `not_found` unless all files are there. */
export async function readMessageResults(
  files: Pick<Files, 'read' | 'open'>,
  place: Place,
  fileIds: readonly (string | null)[],
): Promise<AsyncGenerator<string, void>> {
  return translate(await openResults(files, place, fileIds))
}

async function* translate(sources: Awaited<ReturnType<typeof openResults>>): AsyncGenerator<string, void> {
  for (const open of sources)
    for await (const { content } of splitLines(await open(), RESULT_LINE_BYTES_MAX))
      if (content !== null) yield `${JSON.stringify(toMessageResult(JSON.parse(content.toString())))}\n`
}

const UNASKED = new Map([
  ['batch_cancelled', 'canceled'],
  ['batch_expired', 'expired'],
])

/** Mistakes of the client among the reasons for which a line was not asked. */
const REQUEST_ERRORS = new Set([
  'invalid_value',
  'invalid_request',
  'missing_required_parameter',
  'unsupported_parameter',
  'model_not_found',
  'model_not_allowed',
])

/** @param line of a file that the gateway wrote */
function toMessageResult(line: unknown): object {
  const { custom_id: customId, response, error } = isRecord(line) ? line : {}
  return { custom_id: customId, result: isRecord(response) ? answered(response) : unasked(error) }
}

function answered({ status_code: status, body }: Record<string, unknown>): object {
  return status === 200 ? { type: 'succeeded', message: body } : { type: 'errored', error: body }
}

function unasked(error: unknown): object {
  const { code, message } = isRecord(error) ? error : {}
  const type = UNASKED.get(String(code))
  if (type !== undefined) return { type }
  const errorType = REQUEST_ERRORS.has(String(code)) ? 'invalid_request_error' : 'api_error'
  return { type: 'errored', error: { type: 'error', error: { type: errorType, message, code } } }
}
