import { AppError } from '../../kernel/app-error.ts'
import { findUseByBatch } from '../../modules/batches/batches.ts'
import type { FindClientFile } from '../../modules/chat/chat.ts'
import { findUseByRun } from '../../modules/compare/compare.ts'
import type { Files, FindUse } from '../../modules/files/files.ts'

/** Requests to models name files that clients uploaded. */
export function findFilesIn(files: Pick<Files, 'read' | 'open'>): FindClientFile {
  return async (place, fileId) => {
    const file = await files.read(place, fileId).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return null
      throw error
    })
    return file === null ? null : { ...file, open: () => files.open(file) }
  }
}

/** Names what still reads a file: a batch that has not ended, or a comparison that collects its answers. */
export const findUseOfFile: FindUse = async (queryable, accountId, fileId) =>
  (await findUseByBatch(queryable, accountId, fileId)) ?? findUseByRun(queryable, accountId, fileId)
