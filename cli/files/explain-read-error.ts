import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  ENAMETOOLONG: 'its name is too long',
}

/** Turns an error of the file system into a failure that says why a file was not read. */
export function explainReadError(path: string, error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error))
  return new CommandFailure(EXIT.usage, `"${path}" cannot be read: ${reason}.`)
}
