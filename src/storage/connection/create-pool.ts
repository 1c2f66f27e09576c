import { type ClientBase, Pool, types } from 'pg'
import { connectionOf } from './database-address.ts'
import { READ_ONLY_COLUMN, requirePrimary, type ReadOnlyRow } from './require-primary.ts'
import { requireServerVersion } from './require-server-version.ts'
import { SCHEMA } from '../schema.ts'

interface PoolOptions {
  readonly connectionString: string
  readonly poolSize: number
  readonly statementTimeoutMs: number
  /** Whether a server that takes no writes will do. */
  readonly isForReading?: boolean
}

const IDLE_CONNECTION_MS = 30_000

/** Creates the driver's pool, whose connections are checked and prepared when they are opened. */
export function createPool(options: PoolOptions, connectTimeoutMs: number): Pool {
  // The pool awaits this promise, although its types do not say so.
  const onConnect = (client: ClientBase): Promise<void> => prepareConnection(client, options)
  const config = {
    ...connectionOf(options.connectionString),
    application_name: 'parkway',
    max: options.poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    // Longer than the server's timeout: it only ends the wait for a server that no longer responds.
    query_timeout: options.statementTimeoutMs + connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser },
    onConnect,
  }
  return new Pool(config)
}

// Set by a query instead of startup options, so that options in the URL and poolers keep working.
async function prepareConnection(
  client: ClientBase,
  { statementTimeoutMs, isForReading = false }: PoolOptions,
): Promise<void> {
  // The pool listens for errors only while a connection is idle. If a connection in use dies, its query fails and this event is
  // emitted, which would end the process without a listener.
  client.on('error', () => {})
  const { rows } = await client.query<ReadOnlyRow & { version: number; text: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text, ${READ_ONLY_COLUMN},
      set_config('search_path', $1, false), set_config('statement_timeout', $2, false),
      set_config('idle_in_transaction_session_timeout', $3, false)`,
    [SCHEMA, String(statementTimeoutMs), String(statementTimeoutMs * 2)],
  )
  requireServerVersion(rows[0])
  if (!isForReading) requirePrimary(rows[0])
}

// Money is int8 (oid 20, arrays 1016) and must not be converted to a floating-point number.
const PARSERS = new Map<number, (text: string) => unknown>([
  [20, BigInt],
  [1016, parseBigintArray],
])

const getTypeParser: typeof types.getTypeParser = (oid, format = 'text') =>
  (format === 'text' ? PARSERS.get(oid) : undefined) ?? types.getTypeParser(oid, format)

function parseBigintArray(text: string): (bigint | null)[] {
  const items = text.slice(1, -1)
  return items === '' ? [] : items.split(',').map((item) => (item === 'NULL' ? null : BigInt(item)))
}
