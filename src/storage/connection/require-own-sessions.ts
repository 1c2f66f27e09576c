import type { Client } from 'pg'
import { openSession } from './open-session.ts'
import { messageOf, StorageError } from '../storage-error.ts'

const ROUNDS = 3
/** With a pooler of one connection, the second session waits for the first. */
const ANSWER_MS_MAX = 3_000

/**
 * Throws if a pooler shares connections between transactions, because session messages, locks and settings would be lost.
 * PostgreSQL tells each session its process id at connect; a pooler reports another one.
 */
export async function requireOwnSessions(connectionString: string, session: Client): Promise<void> {
  if ((await readProcess(session)) === processToldTo(session)) return
  const other = await openSession({ connectionString, applicationName: 'parkway-check', lockTimeoutMs: 0 })
  try {
    for (let round = 1; round <= ROUNDS; round += 1)
      if (await isShared(session, other)) throw sharedSessions()
  } catch (error) {
    // PgBouncer with pool_mode = statement refuses BEGIN, and ends the connection.
    throw /statement pooling/i.test(messageOf(error)) ? sharedSessions() : error
  } finally {
    await other.end().catch(() => {})
  }
}

/** Returns whether two open sessions share a server process, or one has changed its process. */
async function isShared(session: Client, other: Client): Promise<boolean> {
  const before = await readProcess(session)
  await other.query('BEGIN')
  try {
    if ((await readProcess(other)) === before) return true
    return (await within(readProcess(session))) !== before
  } finally {
    // Fails on a connection that the pooler has ended; the error of BEGIN or of the query counts.
    await other.query('ROLLBACK').catch(() => {})
  }
}

async function readProcess(session: Client): Promise<number | undefined> {
  const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid
}

/** Returns the process id that the driver keeps to cancel statements. Its types do not include it. */
function processToldTo(session: Client): unknown {
  return 'processID' in session ? session.processID : undefined
}

async function within<Value>(answer: Promise<Value>): Promise<Value | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ANSWER_MS_MAX)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}

function sharedSessions(): StorageError {
  return new StorageError(
    'shared_sessions',
    'DATABASE_URL leads to a pooler that shares connections between transactions (PgBouncer with pool_mode = transaction or statement). ' +
      'The gateway needs sessions of its own: use pool_mode = session, or connect to PostgreSQL itself.',
  )
}
