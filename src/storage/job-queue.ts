import { Pool, type Client, type ClientBase, type PoolClient } from 'pg'
import { connectionOf } from './connection/database-address.ts'
import type { Queryable } from './database.ts'
import {
  isReadOnly,
  READ_ONLY_COLUMN,
  requirePrimary,
  type ReadOnlyRow,
} from './connection/require-primary.ts'
import { errorCodeOf, StorageError } from './storage-error.ts'

/** Not the library's default name, so that another program can use the library in the same database. */
export const JOB_SCHEMA = 'parkway_jobs'

/** The kind of a job. A job only signals that there is work; the tables contain the work. */
export type JobName = 'task' | 'webhook' | 'cancel' | 'compare'

/** The version of the library's schema that this release needs. */
const JOB_SCHEMA_VERSION = 20

const MIGRATE_CONNECTIONS_MAX = 2

export async function isJobQueueCurrent(client: Pick<Client, 'query'>): Promise<boolean> {
  const present = await client.query<{ isPresent: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS "isPresent"',
    [`${JOB_SCHEMA}.migrations`],
  )
  if (present.rows[0]?.isPresent !== true) return false
  const { rows } = await client.query<{ version: number }>(
    `SELECT coalesce(max(id), 0) AS version FROM ${JOB_SCHEMA}.migrations`,
  )
  return (rows[0]?.version ?? 0) >= JOB_SCHEMA_VERSION
}

/** Migrates the schema of the queue. The caller must hold the schema lock, because migrations must not run concurrently. */
export async function migrateJobQueue(connectionString: string): Promise<void> {
  // Loaded on demand, because a start with a current schema does not need it.
  const { Logger, runMigrations } = await import('graphile-worker')
  const pool = openJobPool(connectionString, MIGRATE_CONNECTIONS_MAX)
  try {
    await runMigrations({ pgPool: pool, schema: JOB_SCHEMA, logger: new Logger(() => () => {}) })
  } catch (error) {
    if (errorCodeOf(error) !== '42501') throw error
    throw new StorageError(
      'migration_failed',
      `The database user may not create the schema "${JOB_SCHEMA}". Run "CREATE SCHEMA ${JOB_SCHEMA} AUTHORIZATION <user>" ` +
        'as its administrator.',
      { cause: error },
    )
  } finally {
    await pool.end()
  }
}

/** Opens a connection pool for the library, which needs plain connections. */
export function openJobPool(connectionString: string, connectionsMax: number): Pool {
  // The pool awaits this promise, although its types do not say so.
  const onConnect = async (client: ClientBase): Promise<void> => {
    // An error of a connection must not end the process. Its user gets the error too.
    client.on('error', () => {})
    // A bitmap scan visits all deleted jobs until the table is vacuumed, while an index scan marks them as dead.
    await client.query('SET enable_bitmapscan = off')
    await requireWrites(client)
  }
  const config = { ...connectionOf(connectionString), max: connectionsMax, onConnect }
  const pool = new Pool(config)
  pool.on('error', () => {})
  leaveStandby(pool)
  return pool
}

const LOOK_MS = 2_000

/** Ends the sessions of a server that has become a standby, because the library keeps its sessions after any error. */
function leaveStandby(pool: Pool): void {
  const sessions = new Set<PoolClient>()
  // The library also warns if this event has no listener.
  pool.on('connect', (client) => sessions.add(client))
  pool.on('remove', (client) => sessions.delete(client))
  const leave = (): void => {
    for (const session of sessions) endSession(session)
  }
  const timer = setInterval(() => {
    if (pool.ending) return clearInterval(timer)
    if (sessions.size === 0) return
    pool.query<ReadOnlyRow>(`SELECT ${READ_ONLY_COLUMN}`).then(
      ({ rows }) => {
        if (isReadOnly(rows[0])) leave()
      },
      (error: unknown) => {
        // All sessions were in use, and a new one was refused.
        if (error instanceof StorageError && error.code === 'read_only_server') leave()
      },
    )
  }, LOOK_MS).unref()
}

function endSession(session: PoolClient): void {
  // A pool client has an `end` method, although its type does not say so.
  if ('end' in session && typeof session.end === 'function') void session.end()
}

async function requireWrites(client: ClientBase): Promise<void> {
  const { rows } = await client.query<ReadOnlyRow>(`SELECT ${READ_ONLY_COLUMN}`)
  requirePrimary(rows[0])
}

/** Adds a job, in the transaction that creates the work. */
export async function addJob(
  transaction: Queryable,
  name: JobName,
  { count = 1, payload = {}, runAt = null }: { count?: number; payload?: object; runAt?: Date | null } = {},
): Promise<void> {
  await transaction.query(ADD_JOBS, [name, JSON.stringify(payload), runAt, count])
}

// The queue does not retry jobs, because the tables record the remaining work.
const ADD_JOBS = `
  SELECT count(*) FROM ${JOB_SCHEMA}.add_jobs(ARRAY(
    SELECT ($1::text, $2::json, NULL, $3::timestamptz, 1, NULL, 0, NULL)::${JOB_SCHEMA}.job_spec
    FROM generate_series(1, $4::int)))`

const SPENT_TICKETS_MAX = 1_000

/** Removes jobs of dead workers. The library unlocks them after hours, but they have no attempts left. */
export async function sweepTickets(queryable: Queryable): Promise<void> {
  await queryable.query(
    `SELECT count(*) FROM ${JOB_SCHEMA}.complete_jobs(ARRAY(
       SELECT id FROM ${JOB_SCHEMA}.jobs WHERE locked_at IS NULL AND attempts >= max_attempts LIMIT $1))`,
    [SPENT_TICKETS_MAX],
  )
}
