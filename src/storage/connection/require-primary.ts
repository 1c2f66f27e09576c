import { errorCodeOf, StorageError } from '../storage-error.ts'

/** SQL column with the reason why a session cannot write, or null. */
export const READ_ONLY_COLUMN = `
  CASE WHEN pg_is_in_recovery() THEN 'it is a standby'
    WHEN current_setting('transaction_read_only') = 'on' THEN 'its sessions are read-only' END AS "readOnly"`

export interface ReadOnlyRow {
  readonly readOnly: string | null
}

export function isReadOnly(row: ReadOnlyRow | undefined): boolean {
  return row !== undefined && row.readOnly !== null
}

export function requirePrimary(row: ReadOnlyRow | undefined): void {
  if (row !== undefined && row.readOnly !== null) throw readOnlyServer(row.readOnly)
}

export function readOnlyServer(reason: string): StorageError {
  return new StorageError(
    'read_only_server',
    `The database server takes no writes: ${reason}. Let DATABASE_URL name the primary, or all servers, as in ` +
      'postgres://host1,host2/database?target_session_attrs=read-write.',
  )
}

const READ_ONLY_TRANSACTION = '25006'

/** Returns whether the server refused a write because it has become read-only. The statement had no effect. */
export function isReadOnlyRefusal(error: unknown): boolean {
  return errorCodeOf(error) === READ_ONLY_TRANSACTION
}
