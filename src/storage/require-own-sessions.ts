import type { Client } from 'pg'
import { openSession } from './open-session.ts'
import { StorageError } from './storage-error.ts'

const ROUNDS = 3
/** A pooler with one connection lets the second wait for the first. */
const ANSWER_MS_MAX = 3_000

/**
 * Refuses a pooler that shares connections between transactions: messages, locks and settings of a session would get lost
 * there. PostgreSQL itself tells a session's process when it connects; somebody in between tells another.
 */
export async function requireOwnSessions(connectionString: string, session: Client): Promise<void> {
  if ((await readProcess(session)) === processToldTo(session)) return
  const other = await openSession({ connectionString, applicationName: 'parkway-check', lockTimeoutMs: 0 })
  try {
    for (let round = 1; round <= ROUNDS; round += 1)
      if (await isShared(session, other)) throw sharedSessions()
  } finally {
    await other.end().catch(() => {})
  }
}

/** Whether two sessions that are both open are one to the server, or one is now another. */
async function isShared(session: Client, other: Client): Promise<boolean> {
  const before = await readProcess(session)
  await other.query('BEGIN')
  try {
    if ((await readProcess(other)) === before) return true
    return (await within(readProcess(session))) !== before
  } finally {
    await other.query('ROLLBACK')
  }
}

async function readProcess(session: Client): Promise<number | undefined> {
  const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid
}

/** The driver keeps it to cancel statements, though its types do not say so. */
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
    'DATABASE_URL leads to a pooler that shares connections between transactions (PgBouncer with pool_mode = transaction). ' +
      'The gateway needs sessions of its own: use pool_mode = session, or connect to PostgreSQL itself.',
  )
}
