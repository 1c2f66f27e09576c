import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { escapeIdentifier, type Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { SESSION_PREFIX } from '../bus/bus-connection.ts'
import { readArchive, type ArchivedTable, type Manifest } from './backup-archive.ts'
import {
  applyMigration,
  MIGRATIONS_DIRECTORY,
  prepareSchema,
  readMigrations,
  requireSameHistory,
  type Migration,
} from '../migrate.ts'
import { openSession } from '../connection/open-session.ts'
import { readSequenceNames, readTables } from '../schema-catalog.ts'
import { SCHEMA, SCHEMA_LOCK_ID } from '../schema.ts'
import { anythingSealed } from '../sealed-tables.ts'
import { StorageError } from '../storage-error.ts'

export interface RestoreOptions {
  readonly connectionString: string
  readonly file: string
  /** Whether existing content of the database is replaced. */
  readonly overwrite?: boolean
  /** Whether the installation of the backup is gone, so that this one continues its work. Otherwise the copy is paused. */
  readonly takeOver?: boolean
  /** Directory of the numbered migrations. */
  readonly directory?: string
}

const LOCK_TIMEOUT_MS = 30_000

/**
 * Restores a backup completely or not at all: the old content, the schema and the rows are replaced in one transaction. Reads the
 * archive twice, first to verify it.
 */
export async function restoreDatabase(options: RestoreOptions): Promise<Manifest> {
  const {
    connectionString,
    file,
    overwrite = false,
    takeOver = false,
    directory = MIGRATIONS_DIRECTORY,
  } = options
  const manifest = await readArchive(file, drain)
  const migrations = await readMigrations(directory)
  requireKnownVersion(migrations, manifest)
  const client = await openSession({
    connectionString,
    applicationName: 'parkway-restore',
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  })
  try {
    await client.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK_ID])
    await client.query('BEGIN')
    await requireUnused(client)
    if (!overwrite) await requireEmpty(client)
    await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`)
    await prepareSchema(client)
    for (const migration of migrations.slice(0, manifest.migrations.length))
      await applyMigration(client, migration)
    await loadArchive(client, file, manifest)
    // The archive may be of a release that has no identity yet.
    for (const migration of migrations.slice(manifest.migrations.length))
      await applyMigration(client, migration)
    await client.query(CHANGE_IDENTITY, [takeOver])
    await client.query('COMMIT')
    await dropCachesEverywhere(client)
    return manifest
  } finally {
    await client.end().catch(() => {})
  }
}

async function drain(_table: ArchivedTable, rows: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of rows);
}

function requireKnownVersion(migrations: readonly Migration[], manifest: Manifest): void {
  if (manifest.migrations.length > migrations.length) {
    throw new StorageError(
      'database_newer',
      `The backup is of version ${manifest.migrations.length}, this release knows ${migrations.length}. ` +
        'Restore it with a newer release.',
    )
  }
  requireSameHistory(migrations, manifest.migrations)
}

/** A gateway that serves from the database would go on with balances, claims and caches that are not there any more. */
async function requireUnused(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND starts_with(application_name, $1)`,
    [SESSION_PREFIX],
  )
  if (rowCount === 0) return
  throw new StorageError(
    'in_use',
    `Gateways are using this database (${rowCount} sessions). Stop them, then restore. Nothing was changed.`,
  )
}

// A copy must not act on what it may share with the original. If nothing is sealed, any key will do.
const CHANGE_IDENTITY = `
  UPDATE ${SCHEMA}.installation SET restored_from = id, id = gen_random_uuid(), restored_at = now(), is_paused = NOT $1::boolean,
    sealing_fingerprint = CASE WHEN ${anythingSealed(SCHEMA)} THEN sealing_fingerprint END`

/** These have one row in every migrated database, also in one that was never used. */
const FILLED_BY_MIGRATIONS: ReadonlySet<string> = new Set([
  'gateway_sum_progress',
  'installation',
  'offer_state',
  'statement_numbers',
  'uncounted_entries',
])

async function requireEmpty(client: Client): Promise<void> {
  for (const { name } of await readTables(client)) {
    if (FILLED_BY_MIGRATIONS.has(name)) continue
    const { rowCount } = await client.query(`SELECT 1 FROM ${SCHEMA}.${escapeIdentifier(name)} LIMIT 1`)
    if (rowCount === 0) continue
    throw new StorageError(
      'not_empty',
      `The database already holds data (in ${name}). Restore into an empty one, or replace it with --overwrite.`,
    )
  }
}

async function loadArchive(client: Client, file: string, manifest: Manifest): Promise<void> {
  await requireSameTables(client, manifest)
  const triggers = await readTriggers(client)
  // The archived rows already include the effects of the triggers.
  for (const { table, trigger } of triggers)
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`)
  const names = manifest.tables.map(({ name }) => `${SCHEMA}.${escapeIdentifier(name)}`)
  // Migrations may have inserted rows. The archive has their latest state.
  if (names.length > 0) await client.query(`TRUNCATE ${names.join(', ')}`)
  await client.query('SET CONSTRAINTS ALL DEFERRED')
  await readArchive(file, (table, rows) => loadTable(client, table, rows))
  // Run the deferred checks now, because a table with pending checks cannot be altered.
  await client.query('SET CONSTRAINTS ALL IMMEDIATE')
  await setSequences(client, manifest)
  for (const { table, trigger } of triggers)
    await client.query(`ALTER TABLE ${table} ENABLE TRIGGER ${trigger}`)
}

async function requireSameTables(client: Client, manifest: Manifest): Promise<void> {
  const expected = (await readTables(client)).map(({ name, columns }) => describeTable(name, columns)).sort()
  const archived = manifest.tables.map(({ name, columns }) => describeTable(name, columns)).sort()
  const expectedSequences = (await readSequenceNames(client)).sort()
  const archivedSequences = manifest.sequences.map(({ name }) => name).sort()
  if (JSON.stringify([expected, expectedSequences]) === JSON.stringify([archived, archivedSequences])) return
  throw new StorageError(
    'bad_archive',
    'The tables of the backup are not those of its version. Nothing was changed.',
  )
}

function describeTable(name: string, columns: readonly string[]): string {
  return JSON.stringify([name, ...columns])
}

async function readTriggers(client: Client): Promise<{ table: string; trigger: string }[]> {
  const { rows } = await client.query<{ table: string; trigger: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS "table", quote_ident(t.tgname) AS trigger
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND NOT t.tgisinternal AND t.tgenabled = 'O'`,
    [SCHEMA],
  )
  return rows
}

async function loadTable(client: Client, table: ArchivedTable, rows: AsyncIterable<Buffer>): Promise<void> {
  const columns = table.columns.map((column) => escapeIdentifier(column)).join(', ')
  const target = `${SCHEMA}.${escapeIdentifier(table.name)}`
  const sink = client.query(copyFrom(`COPY ${target} (${columns}) FROM STDIN`))
  await pipeline(Readable.from(rows, { objectMode: false }), sink)
  const { rows: counted } = await client.query<{ count: string }>(
    `SELECT count(*)::text AS count FROM ${target}`,
  )
  if (counted[0]?.count === String(table.rows)) return
  throw new StorageError(
    'bad_archive',
    `${table.name} has ${counted[0]?.count} rows after loading, the backup says ${table.rows}. Nothing was changed.`,
  )
}

async function setSequences(client: Client, manifest: Manifest): Promise<void> {
  for (const { name, lastValue, isCalled } of manifest.sequences) {
    const sequence = `${SCHEMA}.${escapeIdentifier(name)}`
    await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [sequence, lastValue, isCalled])
  }
}

// Terminates the message bus sessions, so that all gateways on this database drop their caches.
async function dropCachesEverywhere(client: Client): Promise<void> {
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND starts_with(application_name, $1)`,
    [SESSION_PREFIX],
  )
}
