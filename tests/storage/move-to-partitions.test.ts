import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { arrangeOnce } from '../../src/storage/partitions/testing/arrange-once.ts'
import { SCHEMA_LOCK_ID } from '../../src/storage/schema.ts'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { eventually } from '../support/eventually.ts'
import { spawnScript } from './spawn-script.ts'

const SCRIPT = new URL('./keep-partitions-of-notes.ts', import.meta.url)
const ROWS = 20_000

let created: TestDatabase
let database: Database

beforeAll(async () => {
  created = await createTestDatabase()
  database = connectDatabase({
    connectionString: created.connectionString,
    poolSize: 3,
    statementTimeoutMs: 20_000,
  })
  await database.query('CREATE TABLE notes (owner uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (owner, id))')
  await database.query(
    `INSERT INTO notes SELECT gen_random_uuid(), ('01890000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid
     FROM generate_series(1, ${ROWS}) AS n`,
  )
})

afterAll(async () => {
  await database.close()
  await created.drop()
})

test('a table is moved beside a writer, after a backup and a killed process, and every row is there once', async () => {
  let written = 0
  const stop = new AbortController()
  const write = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await database.query('INSERT INTO notes VALUES ($1, $2)', [createId(), createId()])
      written += 1
    }
  }
  const writing = write()
  const script = await database.transaction(async (backup) => {
    await backup.query('SELECT pg_advisory_xact_lock_shared($1)', [SCHEMA_LOCK_ID])
    const first = spawnScript(SCRIPT, [created.connectionString])
    await eventually(async () => {
      const read = await database.query(
        `SELECT FROM pg_constraint WHERE conname = 'notes_before_limit' AND convalidated`,
      )
      expect(read).toHaveLength(1)
    })
    return first
  })
  await script.kill()
  const before = written
  await eventually(() =>
    arrangeOnce(created.connectionString, { tables: [{ name: 'notes', step: 'day', ahead: 1 }] }),
  )
  await eventually(() => expect(written).toBeGreaterThan(before + 10))
  stop.abort()
  await writing
  expect(
    await database.query('SELECT count(*) AS rows, count(DISTINCT (owner, id)) AS different FROM notes'),
  ).toEqual([{ rows: BigInt(ROWS + written), different: BigInt(ROWS + written) }])
  const [parent] = await database.query(`SELECT relkind AS kind FROM pg_class WHERE oid = 'notes'::regclass`)
  expect(parent).toEqual({ kind: 'p' })
})
