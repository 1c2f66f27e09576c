import { StorageError } from '../storage-error.ts'

const SERVER_VERSION_MIN = 140_000

export function requireServerVersion(found: { version: number; text: string } | undefined): void {
  if (found !== undefined && found.version >= SERVER_VERSION_MIN) return
  throw new StorageError(
    'unsupported_server',
    `The database server is PostgreSQL ${found?.text ?? 'of unknown version'}; version 14 or newer is needed.`,
  )
}
