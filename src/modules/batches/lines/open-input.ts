import type { Readable } from 'node:stream'
import { AppError } from '../../../kernel/app-error.ts'
import type { Files } from '../../files/files.ts'
import type { Batch } from '../batch.ts'

/** Opens a part of the input file. Null if it is gone. */
export async function openInput(
  files: Pick<Files, 'read' | 'open'>,
  batch: Batch,
  range: { readonly start: number; readonly end: number },
): Promise<Readable | null> {
  try {
    return await files.open(await files.read(batch, batch.inputFileId), range)
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}
