import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

const REASONS: Readonly<Record<string, readonly [string, string]>> = {
  ENOSPC: ['the disk is full', 'Free some space, or choose another place with -o.'],
  EDQUOT: ['your quota of the disk is used up', 'Free some space, or choose another place with -o.'],
  EACCES: ['you may not write there', 'Choose another place with -o.'],
  EROFS: ['the disk is read-only', 'Choose another place with -o.'],
  ENOENT: ['its directory does not exist', 'Create it, or choose another place with -o.'],
  EISDIR: ['it is a directory', 'Give it a name with -o.'],
  ENAMETOOLONG: ['its name is too long', 'Choose another name with -o.'],
}

/** Turns an error of the file system into a failure that says why a file was not saved, and what to do. */
export function explainFileError(path: string, error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const [reason, advice] = REASONS[code] ?? [error instanceof Error ? error.message : String(error), null]
  return new CommandFailure(EXIT.failed, `${path} could not be saved: ${reason}.`, advice)
}
