import { readLedgerCheck } from '../../modules/ledger/ledger.ts'
import type { Queryable } from '../../storage/database.ts'
import { readMissingPartitions } from '../../storage/partitions/read-missing.ts'
import { SCHEMA } from '../../storage/schema.ts'

/** What the doctor looks at in the database. */
export interface DatabaseFacts {
  readonly version: number
  readonly nowMs: number
  readonly settings: ReadonlyMap<string, string>
  readonly connections: number
  readonly sessions: readonly Session[]
  readonly tables: readonly TableFacts[]
  readonly invalidIndexes: readonly string[]
  /** Transactions since the oldest one that is not frozen. */
  readonly transactionAge: number
  readonly standbyLagBytes: number
  /** Servers and programs that read the log of this one. */
  readonly standbys: number
  readonly inactiveSlots: readonly string[]
  readonly missingPartitions: ReadonlyMap<string, number>
  readonly unpostedCommits: number
  readonly refusedCommits: number
  readonly ledgerCheck: { readonly differences: number; readonly checkedAtMs: number } | null
  readonly migrations: number
  readonly isPaused: boolean
  readonly isWorked: boolean
  readonly oldestTaskSeconds: number
}

interface Session {
  readonly pid: number
  readonly state: string
  readonly seconds: number
  readonly isBlocked: boolean
  /** The beginning of its statement, as the server shows it to this role, without the texts in it: other programs write secrets there. */
  readonly statement: string
}

interface TableFacts {
  readonly name: string
  readonly rows: number
  readonly dead: number
}

const LISTED_MAX = 20
const COUNTED_MAX = 10_000
const SETTINGS = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'synchronous_standby_names',
  'autovacuum',
  'max_connections',
]

/** Reads the state of the database in a few cheap statements, none of which reads a large table. */
export async function readDatabase(queryable: Queryable): Promise<DatabaseFacts> {
  const [row] = await queryable.query<FactsRow>(FACTS, [COUNTED_MAX])
  if (row === undefined) throw new Error('the database returned nothing')
  const settings = await queryable.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY($1)',
    [SETTINGS],
  )
  const check = await readLedgerCheck(queryable)
  const slots = await queryable.query<{ name: string }>(SLOTS)
  return {
    version: row.version,
    nowMs: row.now_ms,
    settings: new Map(settings.map(({ name, setting }) => [name, setting])),
    connections: Number(row.connections),
    sessions: await queryable.query<Session>(SESSIONS, [LISTED_MAX]),
    tables: await queryable.query<TableFacts>(TABLES, [SCHEMA, LISTED_MAX]),
    invalidIndexes: (await queryable.query<{ name: string }>(INVALID, [SCHEMA, LISTED_MAX])).map(
      ({ name }) => name,
    ),
    transactionAge: row.transaction_age,
    standbyLagBytes: Number(row.lag_bytes ?? 0),
    standbys: Number(row.standbys),
    inactiveSlots: slots.map(({ name }) => name),
    missingPartitions: await readMissingPartitions(queryable),
    unpostedCommits: Number(row.unposted),
    refusedCommits: Number(row.refused),
    ledgerCheck: check && { differences: check.differences, checkedAtMs: check.checkedAt.getTime() },
    migrations: Number(row.migrations),
    isPaused: row.is_paused,
    isWorked: row.is_worked,
    oldestTaskSeconds: Number(row.oldest_seconds),
  }
}

interface FactsRow {
  readonly version: number
  readonly now_ms: number
  readonly connections: bigint
  readonly transaction_age: number
  readonly lag_bytes: string | null
  readonly standbys: bigint
  readonly unposted: bigint
  readonly refused: bigint
  readonly migrations: bigint
  readonly is_paused: boolean
  readonly is_worked: boolean
  readonly oldest_seconds: string
}

const FACTS = `
  SELECT current_setting('server_version_num')::int AS version,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms,
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
    (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()) AS transaction_age,
    (SELECT max(pg_wal_lsn_diff(sent_lsn, replay_lsn))::text FROM pg_stat_replication) AS lag_bytes,
    (SELECT count(*) FROM pg_stat_replication) AS standbys,
    (SELECT count(*) FROM (SELECT 1 FROM charge_journal LIMIT $1) AS commits) AS unposted,
    (SELECT count(*) FROM (SELECT 1 FROM charge_journal WHERE refusal IS NOT NULL LIMIT $1) AS commits) AS refused,
    (SELECT count(*) FROM migrations) AS migrations,
    (SELECT is_paused FROM installation) AS is_paused,
    EXISTS (SELECT 1 FROM tasks WHERE status = 'processing') AS is_worked,
    (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::text FROM (SELECT created_at FROM tasks
      WHERE status = 'pending' LIMIT $1) AS waiting) AS oldest_seconds`

/** SQL: the end of a statement may be cut off, and a text with it. */
const WITHOUT_TEXTS = `regexp_replace(query, '''[^'']*(''|$)|\\$(\\w*)\\$.*', '…', 'g')`

const SESSIONS = `
  SELECT pid, state, extract(epoch FROM clock_timestamp() - coalesce(
      CASE WHEN state = 'active' THEN query_start ELSE xact_start END, query_start))::float8 AS seconds,
    coalesce(wait_event_type = 'Lock', false) AS "isBlocked", left(regexp_replace(${WITHOUT_TEXTS}, '\\s+', ' ', 'g'), 100) AS statement
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')
    AND backend_type = 'client backend'
  ORDER BY seconds DESC LIMIT $1`

const TABLES = `
  SELECT relname AS name, n_live_tup::float8 AS rows, n_dead_tup::float8 AS dead FROM pg_stat_user_tables
  WHERE schemaname = $1 ORDER BY n_dead_tup DESC LIMIT $2`

const INVALID = `
  SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE NOT indisvalid AND relnamespace = $1::regnamespace AND NOT EXISTS (
    SELECT 1 FROM pg_stat_progress_create_index WHERE index_relid = indexrelid) LIMIT $2`

const SLOTS = `
  SELECT slot_name AS name FROM pg_replication_slots WHERE NOT active
    AND pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn)
      > 1024.0 * 1024 * 1024`
