import { Pool, type Client, type ClientBase, type PoolClient } from 'pg'
import { connectionOf } from './database-address.ts'
import type { Queryable } from './database.ts'
import { isReadOnly, READ_ONLY_COLUMN, requirePrimary, type ReadOnlyRow } from './require-primary.ts'
import { errorCodeOf, StorageError } from './storage-error.ts'

/** Not the library's own name for it, so that another program on the same database can have its own. */
export const JOB_SCHEMA = 'parkway_jobs'

/** What a job is about. A job is a ticket: it says that there is something to do, and the tables say what. */
export type JobName = 'task' | 'webhook' | 'cancel' | 'compare'

/** The last step of the library's own schema that this release needs. */
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

/** Brings the queue's own schema up to the library. One at a time. */
export async function migrateJobQueue(connectionString: string): Promise<void> {
  // Loaded only here: a start that finds everything in place does not need it.
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

/** Connections for the library, which wants them plain. */
export function openJobPool(connectionString: string, connectionsMax: number): Pool {
  // The pool waits for this promise, though its types do not say so.
  const onConnect = async (client: ClientBase): Promise<void> => {
    // A connection that dies, in use or about to be closed, must not end the process: whoever uses it is told.
    client.on('error', () => {})
    // A bitmap looks at every job that ever was until the table is vacuumed; a plain scan of the index marks what has gone.
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

/** The library keeps its sessions through every error: those of a server that has become a standby are ended here. */
function leaveStandby(pool: Pool): void {
  const sessions = new Set<PoolClient>()
  // The library also looks for a listener of this event and warns when there is none.
  pool.on('connect', (client) => sessions.add(client))
  pool.on('remove', (client) => sessions.delete(client))
  const timer = setInterval(() => {
    if (pool.ending) return clearInterval(timer)
    if (sessions.size === 0) return
    pool.query<ReadOnlyRow>(`SELECT ${READ_ONLY_COLUMN}`).then(
      ({ rows }) => {
        if (isReadOnly(rows[0])) for (const session of sessions) endSession(session)
      },
      () => {},
    )
  }, LOOK_MS).unref()
}

function endSession(session: PoolClient): void {
  // A client of a pool has the end of a client of its own, though its type does not say so.
  if ('end' in session && typeof session.end === 'function') void session.end()
}

async function requireWrites(client: ClientBase): Promise<void> {
  const { rows } = await client.query<ReadOnlyRow>(`SELECT ${READ_ONLY_COLUMN}`)
  requirePrimary(rows[0])
}

/** Within the transaction that gives it something to do. */
export async function addJob(
  transaction: Queryable,
  name: JobName,
  { count = 1, payload = {}, runAt = null }: { count?: number; payload?: object; runAt?: Date | null } = {},
): Promise<void> {
  await transaction.query(ADD_JOBS, [name, JSON.stringify(payload), runAt, count])
}

// Never retried by the queue itself: the tables know what is still to be done.
const ADD_JOBS = `
  SELECT count(*) FROM ${JOB_SCHEMA}.add_jobs(ARRAY(
    SELECT ($1::text, $2::json, NULL, $3::timestamptz, 1, NULL, 0, NULL)::${JOB_SCHEMA}.job_spec
    FROM generate_series(1, $4::int)))`

const SPENT_TICKETS_MAX = 1_000

/** Tickets of workers that died are given free after hours, and nobody may take them any more. */
export async function sweepTickets(queryable: Queryable): Promise<void> {
  await queryable.query(
    `SELECT count(*) FROM ${JOB_SCHEMA}.complete_jobs(ARRAY(
       SELECT id FROM ${JOB_SCHEMA}.jobs WHERE locked_at IS NULL AND attempts >= max_attempts LIMIT $1))`,
    [SPENT_TICKETS_MAX],
  )
}
