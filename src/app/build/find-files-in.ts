import { AppError } from '../../kernel/app-error.ts'
import type { FindClientFile } from '../../modules/chat/chat.ts'
import type { Files } from '../../modules/files/files.ts'

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
