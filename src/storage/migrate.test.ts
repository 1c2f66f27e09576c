import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../kernel/logger.ts'
import { connectDatabase } from './connection/connect-database.ts'
import { migrate, MIGRATIONS_DIRECTORY } from './migrate.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './testing/test-database.ts'
import { removeDirectory } from '../../tests/support/remove-directory.ts'

let database: TestDatabase
let directory: string

beforeEach(async () => {
  database = await createEmptyDatabase()
  directory = await mkdtemp(join(tmpdir(), 'parkway-migrations-'))
  await cp(MIGRATIONS_DIRECTORY, directory, { recursive: true })
})

afterEach(async () => {
  await database.drop()
  await removeDirectory(directory)
})

const run = (): ReturnType<typeof migrate> =>
  migrate({ connectionString: database.connectionString, logger: silentLogger, directory })

async function addMigration(sql: string): Promise<{ version: number; file: string }> {
  const { version } = await run()
  const file = join(directory, `${String(version + 1).padStart(4, '0')}_extra.sql`)
  await writeFile(file, sql)
  return { version: version + 1, file }
}

describe('migrate', () => {
  test('every migration is applied once', async () => {
    const first = await run()
    expect(first.applied).toBe(first.version)
    expect(await run()).toEqual({ version: first.version, applied: 0 })
  })

  test('a test database is at the same version from the start', async () => {
    const copy = await createTestDatabase()
    const result = await migrate({ connectionString: copy.connectionString, logger: silentLogger })
    expect(result.applied).toBe(0)
    await copy.drop()
  })

  test('a changed migration is refused', async () => {
    const { file } = await addMigration('CREATE TABLE extra (id int)')
    await run()
    await writeFile(file, 'CREATE TABLE extra (id bigint)')
    await expect(run()).rejects.toMatchObject({ code: 'migration_mismatch' })
  })

  test('line endings do not change a migration', async () => {
    const { file } = await addMigration('CREATE TABLE extra (\nid int)')
    await run()
    await writeFile(file, 'CREATE TABLE extra (\r\nid int)')
    expect((await run()).applied).toBe(0)
  })

  test('a database newer than the code is refused', async () => {
    const { file } = await addMigration('CREATE TABLE extra (id int)')
    await run()
    await rm(file)
    await expect(run()).rejects.toMatchObject({ code: 'database_newer' })
  })

  test('a migration that a process of the release before waits for, and that waits for it, is tried again', async () => {
    await addMigration('LOCK TABLE accounts; LOCK TABLE tasks; CREATE TABLE extra (id int)')
    const other = new Client({ connectionString: database.connectionString })
    await other.connect()
    // The migration is the one that PostgreSQL ends.
    await other.query("SET deadlock_timeout = '100s'; SET search_path = parkway; BEGIN; LOCK TABLE tasks")
    const migrated = run()
    await expect
      .poll(async () => (await other.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount, {
        interval: 5,
      })
      .toBeGreaterThan(0)
    await other.query('LOCK TABLE accounts')
    await other.query('COMMIT')
    expect((await migrated).applied).toBe(1)
    await other.end()
  })

  test('a failing migration leaves nothing and can be corrected', async () => {
    const { version, file } = await addMigration('CREATE TABLE extra (id int); SELECT 1 / 0')
    await expect(run()).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('zero'),
    })
    await writeFile(file, 'CREATE TABLE extra (id int)')
    expect(await run()).toEqual({ version, applied: 1 })
  })

  test('a gap in the numbers is refused', async () => {
    await writeFile(join(directory, '0999_gap.sql'), 'SELECT 1')
    await expect(run()).rejects.toMatchObject({ code: 'migration_mismatch' })
  })

  test('everything is created in the schemas of the gateway and of its job queue', async () => {
    await run()
    const connected = connectDatabase({
      connectionString: database.connectionString,
      poolSize: 1,
      statementTimeoutMs: 5_000,
    })
    const rows = await connected.query<{ schema: string }>(
      `SELECT DISTINCT schemaname AS schema FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
       ORDER BY schema`,
    )
    expect(rows).toEqual([{ schema: 'parkway' }, { schema: 'parkway_jobs' }])
    await connected.close()
  })
})
