import type { Queryable } from '../database.ts'

interface StandbyRow {
  readonly is_standby: boolean
  /** How far the log of the primary was replayed. */
  readonly replayed: string | null
  /** The same for a primary and its standbys, and for no other server. */
  readonly cluster: string
}

interface SourceRow {
  /** How far the primary has written its log. */
  readonly written: string
  readonly cluster: string
}

export async function readStandby(replica: Queryable): Promise<StandbyRow> {
  const [row] = await replica.query<StandbyRow>(`
    SELECT pg_is_in_recovery() AS is_standby,
      CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text END AS replayed,
      (SELECT system_identifier::text FROM pg_control_system()) AS cluster`)
  if (row === undefined) throw new Error('it returned nothing')
  return row
}

export async function readWritten(primary: Queryable): Promise<SourceRow> {
  const [row] = await primary.query<SourceRow>(`
    SELECT pg_current_wal_lsn()::text AS written,
      (SELECT system_identifier::text FROM pg_control_system()) AS cluster`)
  if (row === undefined) throw new Error('the primary returned nothing')
  return row
}
