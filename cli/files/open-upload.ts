import { openAsBlob, statSync } from 'node:fs'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from './explain-read-error.ts'

/** Opens a file that is read while it is sent, so that a large one needs little memory. */
export async function openUpload(path: string): Promise<Blob> {
  try {
    // A directory opens, and fails only when it is read.
    if (!statSync(path).isFile()) throw new CommandFailure(EXIT.usage, `"${path}" is not a file.`)
    return await openAsBlob(path)
  } catch (error) {
    throw explainReadError(path, error)
  }
}
