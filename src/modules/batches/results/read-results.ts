import { isRecord } from '../../../kernel/is-record.ts'
import type { Place } from '../../../storage/place.ts'
import type { Files } from '../../files/files.ts'
import type { Batch } from '../batch.ts'
import { parseLine } from '../lines/check-line.ts'
import { splitLines } from '../lines/split-lines.ts'
import { openResults, RESULT_LINE_BYTES_MAX } from './open-results.ts'

/** What became of a line. */
export interface LineResult {
  /** Names the line in files of results. */
  readonly lineId: string
  readonly customId: string
  /** Null if it was not asked. */
  readonly response: { readonly status: number; readonly requestId: string; readonly body: unknown } | null
  /** Why it was not asked. */
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Reads the files of results, that of the answers first. Throws `not_found` unless all of them are there. */
export async function readResults(
  files: Pick<Files, 'read' | 'open'>,
  place: Place,
  { outputFileId, errorFileId }: Pick<Batch, 'outputFileId' | 'errorFileId'>,
): Promise<AsyncGenerator<LineResult, void>> {
  return toResults(await openResults(files, place, [outputFileId, errorFileId]))
}

async function* toResults(
  sources: Awaited<ReturnType<typeof openResults>>,
): AsyncGenerator<LineResult, void> {
  for (const open of sources)
    for await (const { content } of splitLines(await open(), RESULT_LINE_BYTES_MAX))
      if (content !== null) yield toResult(await parseLine(content))
}

/** @param line of a file that the gateway wrote */
function toResult(line: unknown): LineResult {
  const { id, custom_id: customId, response, error } = isRecord(line) ? line : {}
  return {
    lineId: String(id),
    customId: String(customId),
    response: isRecord(response)
      ? {
          status: Number(response['status_code']),
          requestId: String(response['request_id']),
          body: response['body'],
        }
      : null,
    error: isRecord(error) ? { code: String(error['code']), message: String(error['message']) } : null,
  }
}
