import type { Readable } from 'node:stream'
import { AppError } from '../../../kernel/app-error.ts'
import type { Place } from '../../../storage/place.ts'
import type { Files, StoredFile } from '../../files/files.ts'

/** A longer answer than any upstream may give. */
export const RESULT_LINE_BYTES_MAX = 256 * 1024 * 1024

/** Finds the files of results before the first one is read, because nobody sees that a part is missing. Throws `not_found` unless all are there. */
export async function openResults(
  files: Pick<Files, 'read' | 'open'>,
  place: Place,
  fileIds: readonly (string | null)[],
): Promise<readonly (() => Promise<Readable>)[]> {
  const found: StoredFile[] = []
  for (const fileId of fileIds)
    if (fileId !== null) found.push(await files.read(place, fileId).catch(explainMissing))
  return found.map((file) => () => files.open(file))
}

function explainMissing(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  throw new AppError('not_found', 'The results of this batch were deleted, or have expired.')
}
