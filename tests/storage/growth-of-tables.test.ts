import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { PARTITIONED_TABLES } from '../../src/storage/partitions/partitioned-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { GROWS_WITH, GROWS_WITH_REQUESTS, renderGrowth } from './growth-of-tables.ts'

let created: TestDatabase
let database: Database

beforeAll(async () => {
  created = await createTestDatabase()
  const { connectionString } = created
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 20_000 })
})

afterAll(async () => {
  await database.close()
  await created.drop()
})

test('every table says what it grows with, and for how long its rows are kept if that is requests', async () => {
  const tables = await database.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'parkway'::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition AND relname <> 'migrations'`,
  )
  const listed = [...Object.keys(GROWS_WITH_REQUESTS), ...Object.values(GROWS_WITH).flat()]
  expect(listed.toSorted()).toEqual(tables.map(({ name }) => name).toSorted())
})

test('the key of every table that grows with requests has the account, or the reason is named', async () => {
  const rows = await database.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class JOIN pg_index ON indrelid = pg_class.oid AND indisunique
     JOIN pg_attribute ON attrelid = pg_class.oid AND attnum = ANY (indkey) AND attname = 'account_id'
     WHERE relnamespace = 'parkway'::regnamespace`,
  )
  const withAccount = new Set(rows.map(({ name }) => name))
  const said = Object.entries(GROWS_WITH_REQUESTS).map(([name, { withoutAccount }]) => [
    name,
    withoutAccount === undefined,
  ])
  expect(said).toEqual(said.map(([name]) => [name, withAccount.has(String(name))]))
})

test('tables are partitioned that say so, and the documents say what they say', async () => {
  const said = Object.entries(GROWS_WITH_REQUESTS).filter(([, { kept }]) => kept.includes('in partitions'))
  expect(said.map(([name]) => name)).toEqual(PARTITIONED_TABLES.map(({ name }) => name).toSorted())
  expect(await readFile(new URL('../../docs/growth.md', import.meta.url), 'utf8')).toContain(renderGrowth())
})
