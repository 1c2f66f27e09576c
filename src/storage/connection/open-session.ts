import type { Client as Session } from 'pg'
import { connectionOf } from './database-address.ts'
import { READ_ONLY_COLUMN, requirePrimary, type ReadOnlyRow } from './require-primary.ts'
import { requireServerVersion } from './require-server-version.ts'
import { messageOf, StorageError } from '../storage-error.ts'

const CONNECT_TIMEOUT_MS = 10_000

export interface OpenSessionOptions {
  readonly connectionString: string
  /** Shown in the server's list of sessions. */
  readonly applicationName: string
  /** How long a statement may wait for locks. */
  readonly lockTimeoutMs: number
}

/** Opens a separate connection without a statement timeout, for work on the whole schema. The caller must end it. */
export async function openSession(options: OpenSessionOptions): Promise<Session> {
  const { Client, connectionString } = connectionOf(options.connectionString)
  const client = new Client({
    connectionString,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // The running query reports the loss.
  client.on('error', () => {})
  await client.connect().catch((error: unknown) => {
    if (error instanceof StorageError) throw error
    throw new StorageError('unreachable_database', `The database cannot be reached: ${messageOf(error)}`, {
      cause: error,
    })
  })
  try {
    const { rows } = await client.query<ReadOnlyRow & { version: number; text: string }>(
      `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text, ${READ_ONLY_COLUMN},
        set_config('statement_timeout', '0', false), set_config('lock_timeout', $1, false)`,
      [String(options.lockTimeoutMs)],
    )
    requireServerVersion(rows[0])
    requirePrimary(rows[0])
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}
