import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, lstatSync } from 'node:fs'
import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { escapeIdentifier, type Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { pack, type Pack } from 'tar-stream'
import type { Logger } from '../../kernel/logger.ts'
import { FORMAT_VERSION, MANIFEST_NAME, type ArchivedTable, type Manifest } from './backup-archive.ts'
import { readApplied } from '../migrate.ts'
import { openSession } from '../connection/open-session.ts'
import { readSequenceNames, readTables, type CatalogTable } from '../schema-catalog.ts'
import { SCHEMA, SCHEMA_LOCK_ID } from '../schema.ts'
import { errorCodeOf, messageOf, StorageError } from '../storage-error.ts'

export interface BackupOptions {
  readonly connectionString: string
  /** Path of the archive. */
  readonly file: string
  /** Whether an existing file is replaced once the new one is complete. If false, an existing file is an error. */
  readonly overwrite: boolean
  readonly logger: Logger
}

const LOCK_TIMEOUT_MS = 120_000

/** Writes a consistent snapshot of all the gateway's data into one file. The gateway may keep running. */
export async function backupDatabase(options: BackupOptions): Promise<Manifest> {
  const { connectionString, file, overwrite, logger } = options
  const target = resolve(file)
  if (!overwrite) requireAbsent(target)
  const spoolDir = await makeSpoolDirectory(target)
  try {
    const manifest = await readDatabase(connectionString, spoolDir)
    await writeArchive({ target, overwrite }, manifest, spoolDir)
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    logger.info({ file: target, tables: manifest.tables.length, rows }, 'backup written')
    return manifest
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOSPC') throw error
    throw new StorageError('no_space', `No space left for the backup in ${dirname(target)}.`, {
      cause: error,
    })
  } finally {
    await rm(spoolDir, { recursive: true, force: true })
  }
}

// In the directory of the archive, where the operator has reserved space. Only this user can read it.
async function makeSpoolDirectory(target: string): Promise<string> {
  return mkdtemp(join(dirname(target), '.parkway-backup-')).catch((error: unknown) => {
    throw new StorageError('not_writable', `The backup cannot be written: ${messageOf(error)}`, {
      cause: error,
    })
  })
}

async function readDatabase(connectionString: string, spoolDir: string): Promise<Manifest> {
  const client = await openSession({
    connectionString,
    applicationName: 'parkway-backup',
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  })
  try {
    // Taken before the snapshot, so that no migration runs during the backup.
    await client.query('SELECT pg_advisory_lock_shared($1)', [SCHEMA_LOCK_ID])
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const migrations = await readApplied(client)
    const tables: ArchivedTable[] = []
    for (const table of await readTables(client)) {
      tables.push(await spoolTable(client, table, join(spoolDir, String(tables.length))))
    }
    // Read after the rows: sequences are not part of the snapshot, and values ahead of the rows are safe.
    const sequences = await readSequences(client)
    await client.query('COMMIT')
    return {
      formatVersion: FORMAT_VERSION,
      createdAt: new Date().toISOString(),
      migrations,
      tables,
      sequences,
    }
  } finally {
    await client.end().catch(() => {})
  }
}

async function spoolTable(
  client: Client,
  { name, columns }: CatalogTable,
  spool: string,
): Promise<ArchivedTable> {
  const list = columns.map((column) => escapeIdentifier(column)).join(', ')
  // A table with partitions can only be copied by a query.
  const stream = client.query(
    copyTo(`COPY (SELECT ${list} FROM ${SCHEMA}.${escapeIdentifier(name)}) TO STDOUT`),
  )
  const hash = createHash('sha256')
  let bytes = 0
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  await pipeline(stream, measure, createWriteStream(spool, { mode: 0o600 }))
  const sha256 = hash.digest('hex')
  return { name, entry: `tables/${name}.copy`, columns: [...columns], rows: stream.rowCount, bytes, sha256 }
}

async function readSequences(client: Client): Promise<Manifest['sequences']> {
  const sequences: Manifest['sequences'] = []
  for (const name of await readSequenceNames(client)) {
    const { rows } = await client.query<{ lastValue: string; isCalled: boolean }>(
      `SELECT last_value::text AS "lastValue", is_called AS "isCalled" FROM ${SCHEMA}.${escapeIdentifier(name)}`,
    )
    for (const row of rows) sequences.push({ name, ...row })
  }
  return sequences
}

function requireAbsent(target: string): void {
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined) return
  throw new StorageError(
    'not_empty',
    `${target} exists already. Choose another name, or replace it with --force.`,
  )
}

async function writeArchive(
  { target, overwrite }: { target: string; overwrite: boolean },
  manifest: Manifest,
  spoolDir: string,
): Promise<void> {
  const draft = `${target}.${randomUUID()}.partial`
  const archive = pack()
  try {
    const output = createWriteStream(draft, { mode: 0o600, flush: true })
    await Promise.all([pipeline(archive, createGzip(), output), packEntries(archive, manifest, spoolDir)])
    // Another backup with the same name may have been written meanwhile.
    if (!overwrite) requireAbsent(target)
    await rename(draft, target)
    await syncDirectory(dirname(target))
  } finally {
    archive.destroy()
    await rm(draft, { force: true })
  }
}

async function packEntries(archive: Pack, manifest: Manifest, spoolDir: string): Promise<void> {
  archive.entry({ name: MANIFEST_NAME, mode: 0o600 }, JSON.stringify(manifest, null, 2))
  for (const [index, table] of manifest.tables.entries()) {
    const entry = archive.entry({ name: table.entry, mode: 0o600, size: table.bytes })
    await pipeline(createReadStream(join(spoolDir, String(index))), entry)
  }
  archive.finalize()
}

async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
