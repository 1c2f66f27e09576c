import { cp, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { silentLogger } from '../../src/kernel/logger.ts'
import { migrate, MIGRATIONS_DIRECTORY } from '../../src/storage/migrate.ts'
import { createEmptyDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** The first frozen migration from which upgrades are tested. */
const OLD_VERSION = 15
const ROWS = new URL('./fixtures/database-0015.sql', import.meta.url)

/** Values that are in the rows of the fixture. */
export const OLD = {
  operatorKey: 'pk-dev-TestTestTestTestTestTestTestTestTestTest',
  key: 'pk-dev-D3nNcdzRWhPZ4sWg1idfxUYxPU8gP3YLNAuN6vCeI8C',
  accountId: '01a1e587-6a4c-7cb1-85ed-1fb400125756',
  finishedTaskId: '01a1e587-6d9d-7e39-84dc-a820abe70c05',
  waitingTaskId: '01a1e587-706b-7467-bb13-bbe7a48bf53f',
  runId: '01a1e587-6ea5-7203-898a-3208f1549898',
}

/** Creates a database in the state of the release with migration 0015. */
export async function createOldDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase()
  const directory = await mkdtemp(join(tmpdir(), 'parkway-migrations-'))
  try {
    for (const name of await readdir(MIGRATIONS_DIRECTORY))
      if (Number(name.slice(0, 4)) <= OLD_VERSION)
        await cp(join(MIGRATIONS_DIRECTORY, name), join(directory, name))
    await migrate({ connectionString: database.connectionString, logger: silentLogger, directory })
    await loadRows(database.connectionString)
    return database
  } finally {
    await removeDirectory(directory)
  }
}

async function loadRows(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    // Disables foreign keys: the rows are sorted by table name, so some come before the rows that they reference.
    await client.query('SET session_replication_role = replica')
    await client.query(await readFile(ROWS, 'utf8'))
  } finally {
    await client.end()
  }
}
