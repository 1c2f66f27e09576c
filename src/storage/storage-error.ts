export type StorageErrorCode =
  | 'no_space'
  | 'not_writable'
  | 'wrong_owner'
  | 'not_reachable'
  | 'in_use'
  | 'foreign_directory'
  | 'version_mismatch'
  | 'binaries_missing'
  | 'start_failed'
  | 'unreachable_database'
  | 'unsupported_server'
  | 'read_only_server'
  | 'shared_sessions'
  | 'not_committed'
  | 'outcome_unknown'
  | 'migration_mismatch'
  | 'migration_failed'
  | 'database_newer'
  | 'not_empty'
  | 'wrong_sealing_key'
  | 'bad_archive'
  | 'bad_message'
  | 'disconnected'
  | 'replica_lost'

/** An error that an operator can act on. The message says what is wrong and what to do. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly code: StorageErrorCode

  constructor(code: StorageErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
  }
}

/** Returns the code of a system or PostgreSQL error, such as `ENOSPC` or `40001`. */
export function errorCodeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

/** PostgreSQL's code for a duplicate key. */
export const UNIQUE_VIOLATION = '23505'

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
