import { CAPABILITIES } from '../../storage/borrowing/capabilities.ts'
import type { Queryable } from '../../storage/database.ts'
import { SCHEMA, SCHEMA_LOCK_ID } from '../../storage/schema.ts'
import type { AppliedMigration } from '../../storage/migrate.ts'

/** What an upgrade depends on in the database. */
export interface UpgradeFacts {
  readonly applied: readonly AppliedMigration[]
  /** By name, as the server counted them last. */
  readonly tables: ReadonlyMap<string, TableSize>
  readonly databaseBytes: number
  /** Living processes, and those of them that lack what this release can read. */
  readonly processes: { readonly living: number; readonly older: number }
  /** Transactions that migrations would wait for. */
  readonly longTransactions: readonly { readonly pid: number; readonly seconds: number }[]
  /** Whether somebody migrates, backs up or restores now. */
  readonly isSchemaLocked: boolean
}

export interface TableSize {
  readonly rows: number
  readonly bytes: number
}

const LONG_SECONDS = 60
const LISTED_MAX = 20

/** Reads it from a database of any earlier release, without waiting for anybody. */
export async function readUpgrade(queryable: Queryable): Promise<UpgradeFacts> {
  const tables = await queryable.query<{ name: string } & TableSize>(
    `SELECT relname AS name, greatest(reltuples, 0)::float8 AS rows, pg_total_relation_size(oid)::float8 AS bytes
     FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p')`,
    [SCHEMA],
  )
  const [row] = await queryable.query<{ bytes: number; is_locked: boolean; has_capabilities: boolean }>(
    `SELECT pg_database_size(current_database())::float8 AS bytes,
       EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (
         SELECT oid FROM pg_database WHERE datname = current_database())
         AND ((classid::bigint << 32) | objid::bigint) = $2) AS is_locked,
       EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1 || '.borrowers') AND attname = 'capabilities') AS has_capabilities`,
    [SCHEMA, SCHEMA_LOCK_ID],
  )
  return {
    applied: await readApplied(queryable),
    tables: new Map(tables.map(({ name, rows, bytes }) => [name, { rows, bytes }])),
    databaseBytes: row?.bytes ?? 0,
    processes: await countProcesses(queryable, row?.has_capabilities === true),
    longTransactions: await queryable.query(
      `SELECT pid, extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
         AND xact_start < clock_timestamp() - make_interval(secs => $1) ORDER BY xact_start LIMIT $2`,
      [LONG_SECONDS, LISTED_MAX],
    ),
    isSchemaLocked: row?.is_locked === true,
  }
}

async function readApplied(queryable: Queryable): Promise<AppliedMigration[]> {
  return queryable.query<AppliedMigration>('SELECT version, name, checksum FROM migrations ORDER BY version')
}

async function countProcesses(
  queryable: Queryable,
  hasCapabilities: boolean,
): Promise<UpgradeFacts['processes']> {
  // Processes of the first releases did not say what they can read.
  const isOlder = hasCapabilities ? 'NOT capabilities @> $1::text[]' : '$1::text[] IS NOT NULL'
  const [row] = await queryable.query<{ living: number; older: number }>(
    `SELECT count(*)::int AS living, count(*) FILTER (WHERE ${isOlder})::int AS older FROM borrowers
     WHERE closed_at IS NULL AND expires_at > now()`,
    [[...CAPABILITIES]],
  )
  return row ?? { living: 0, older: 0 }
}
