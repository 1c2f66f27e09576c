import type { Queryable } from '../database.ts'

/** Held by the listening session of every process that deletes rows of partitioned tables by their keys. */
const MARK_ID = 7_275_929_042

/** SQL, run once in the listening session of a process. */
export const MARK_PROCESS = `SELECT pg_try_advisory_lock_shared(${MARK_ID})`

/**
 * Whether processes of a release run that deletes old rows by their place in the table: in a table with partitions, rows of all partitions
 * have the same places. Such a release refuses to start on this database, so that there will be no more of them.
 */
export async function hasOlderProcesses(queryable: Queryable, sessionPrefix: string): Promise<boolean> {
  const rows = await queryable.query(
    `SELECT 1 AS one FROM pg_stat_activity AS process
     WHERE datname = current_database() AND starts_with(application_name, $1) AND NOT EXISTS (
       SELECT FROM pg_locks WHERE pg_locks.pid = process.pid AND locktype = 'advisory' AND granted AND objsubid = 1
         AND classid::bigint = $2::bigint >> 32 AND objid::bigint = $2::bigint & 4294967295)
     LIMIT 1`,
    [sessionPrefix, MARK_ID],
  )
  return rows.length > 0
}
