import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import type { Logger } from '../kernel/logger.ts'
import { isJobQueueCurrent, migrateJobQueue } from './job-queue.ts'
import { openSession } from './connection/open-session.ts'
import { requireOwnSessions } from './connection/require-own-sessions.ts'
import { SCHEMA, SCHEMA_LOCK_ID } from './schema.ts'
import { errorCodeOf, messageOf, StorageError } from './storage-error.ts'

export interface MigrateOptions {
  readonly connectionString: string
  readonly logger: Logger
  /** Directory of the numbered files. */
  readonly directory?: string
}

export interface MigrateResult {
  readonly version: number
  /** Number of migrations that this call applied. */
  readonly applied: number
}

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('./migrations/', import.meta.url))

const LOCK_TIMEOUT_MS = 120_000

/**
 * Migrates the database to the version of this code. Any number of processes may call it at once: one does the work, the others
 * wait and find nothing to do.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const migrations = await readMigrations(options.directory ?? MIGRATIONS_DIRECTORY)
  const client = await openSession({
    connectionString: options.connectionString,
    applicationName: 'parkway-migrate',
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  })
  try {
    await requireOwnSessions(options.connectionString, client)
    // Check before locking, so that a restart does not wait for a backup, which holds the lock until it ends.
    if (await isUpToDate(client, migrations)) return { version: migrations.length, applied: 0 }
    return await migrateUnderLock(client, migrations, options)
  } finally {
    // Closing the session releases the lock in any case.
    await client.end().catch(() => {})
  }
}

async function migrateUnderLock(
  client: Client,
  migrations: Migration[],
  { connectionString, logger }: MigrateOptions,
): Promise<MigrateResult> {
  await client.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK_ID]).catch(rethrowLockTimeout)
  await prepareSchema(client)
  const applied = await readApplied(client)
  requireSameHistory(migrations, applied)
  const missing = migrations.slice(applied.length)
  for (const migration of missing) {
    await applyBesideOthers(client, migration)
    // The first start applies all of them, which needs no log lines.
    if (applied.length > 0)
      logger.info({ version: migration.version, name: migration.name }, 'database migrated')
  }
  if (!(await isJobQueueCurrent(client))) await migrateJobQueue(connectionString)
  return { version: migrations.length, applied: missing.length }
}

/** How often a migration is tried again that waits for processes which wait for it. */
const DEADLOCKS_MAX = 5

/** Applies a migration while processes of the release before use the tables. PostgreSQL ends one of those that wait for each other. */
async function applyBesideOthers(client: Client, migration: Migration): Promise<void> {
  for (let deadlocks = 0; ; deadlocks += 1) {
    await client.query('BEGIN')
    try {
      await applyMigration(client, migration)
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      const isDeadlock = error instanceof StorageError && errorCodeOf(error.cause) === DEADLOCK
      if (!isDeadlock || deadlocks === DEADLOCKS_MAX) throw error
    }
  }
}

const DEADLOCK = '40P01'

async function isUpToDate(client: Client, migrations: readonly Migration[]): Promise<boolean> {
  if (!(await hasRecord(client))) return false
  const applied = await readApplied(client)
  requireSameHistory(migrations, applied)
  return applied.length === migrations.length && (await isJobQueueCurrent(client))
}

function rethrowLockTimeout(error: unknown): never {
  if (errorCodeOf(error) !== '55P03') throw error
  throw new StorageError(
    'in_use',
    'Another process is migrating, backing up or restoring the database. Try later.',
    {
      cause: error,
    },
  )
}

async function hasRecord(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ isPresent: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS "isPresent"',
    [`${SCHEMA}.migrations`],
  )
  return rows[0]?.isPresent ?? false
}

/** Creates the schema and its table of migrations if they are missing. */
export async function prepareSchema(client: Client): Promise<void> {
  try {
    if (!(await hasRecord(client))) {
      // Check first, because a role without the right to create schemas may already own this one.
      const schema = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [SCHEMA])
      if (schema.rowCount === 0) await client.query(`CREATE SCHEMA ${SCHEMA}`)
      await client.query(`CREATE TABLE ${SCHEMA}.migrations (
        version int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now())`)
    }
    await client.query(`SET search_path = ${SCHEMA}`)
  } catch (error) {
    if (errorCodeOf(error) !== '42501') throw error
    throw new StorageError(
      'migration_failed',
      `The database user may not create the schema "${SCHEMA}". Run "CREATE SCHEMA ${SCHEMA} AUTHORIZATION <user>" as ` +
        'its administrator.',
      { cause: error },
    )
  }
}

/** Runs one migration and records it, in the caller's transaction. */
export async function applyMigration(
  client: Client,
  { version, name, sql, checksum }: Migration,
): Promise<void> {
  try {
    await client.query(sql)
    await client.query(`INSERT INTO ${SCHEMA}.migrations (version, name, checksum) VALUES ($1, $2, $3)`, [
      version,
      name,
      checksum,
    ])
  } catch (error) {
    throw new StorageError('migration_failed', `Migration ${name} failed: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1])
      if (version !== index + 1) {
        throw new StorageError(
          'migration_mismatch',
          `${name} breaks the numbering of ${directory}: expected ${index + 1}.`,
        )
      }
      // Normalise line endings, because git may change them on checkout.
      const sql = (await readFile(`${directory}/${name}`, 'utf8')).replaceAll('\r\n', '\n')
      return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

export interface AppliedMigration {
  version: number
  name: string
  checksum: string
}

export async function readApplied(client: Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT version, name, checksum FROM ${SCHEMA}.migrations ORDER BY version`,
  )
  return rows
}

/** Throws unless the applied migrations are a prefix of this code's migrations. */
export function requireSameHistory(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): void {
  if (applied.length > migrations.length) {
    throw new StorageError(
      'database_newer',
      `The database is at version ${applied.length}, this release knows ${migrations.length}. Start a newer release.`,
    )
  }
  for (const [index, was] of applied.entries()) {
    const migration = migrations[index]
    if (migration?.version === was.version && migration.checksum === was.checksum) continue
    throw new StorageError(
      'migration_mismatch',
      `Migration ${was.name} was applied to this database with another content than this release has. ` +
        'Applied migrations must not change: restore the file, or start the release that made the database.',
    )
  }
}
