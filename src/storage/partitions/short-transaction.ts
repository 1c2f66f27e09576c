import type { Client } from 'pg'
import type { Queryable } from '../database.ts'
import { SCHEMA_LOCK_ID } from '../schema.ts'
import { errorCodeOf } from '../storage-error.ts'

/** Others wait behind a lock that is waited for. */
const LOCK_TIMEOUT_MS = 300
const VACUUM_TIMEOUT_MS = 5_000

/** What is needed is in use. Nothing was changed; try again later. */
export class TablesInUse extends Error {}

/**
 * Changes tables in one transaction that waits for locks only for a moment, and not while the database is migrated, backed up or
 * restored.
 */
export async function changeTables(
  session: Client,
  change: (queryable: Queryable) => Promise<void>,
): Promise<void> {
  const queryable = queryableOf(session)
  await session.query('BEGIN')
  try {
    await session.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await change(queryable)
    await session.query('COMMIT')
  } catch (error) {
    await session.query('ROLLBACK')
    if (isLockTimeout(error)) throw new TablesInUse('tables are in use', { cause: error })
    throw error
  }
}

/** Ends a vacuum of the table, which the server does for who has waited a second. Readers and writers do not wait behind this lock. */
export async function endVacuum(queryable: Queryable, table: string): Promise<void> {
  await queryable.query(`SET LOCAL lock_timeout = ${VACUUM_TIMEOUT_MS}`)
  await queryable.query(`LOCK TABLE ${table} IN SHARE UPDATE EXCLUSIVE MODE`)
  await queryable.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
}

/** No backup and no migration begins before the end of the transaction. */
export async function requireNoBackup(queryable: Queryable): Promise<void> {
  const [row] = await queryable.query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS free', [
    SCHEMA_LOCK_ID,
  ])
  if (row?.free !== true) throw new TablesInUse('the database is migrated, backed up or restored')
}

export function isLockTimeout(error: unknown): boolean {
  return errorCodeOf(error) === '55P03'
}

export function queryableOf(session: Client): Queryable {
  return { query: async (sql, values = []) => (await session.query(sql, [...values])).rows }
}
