import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJobQueueCurrent, JOB_SCHEMA } from './job-queue.ts'
import { createTestDatabase, type TestDatabase } from './testing/test-database.ts'

let database: TestDatabase
let client: Client
beforeAll(async () => {
  database = await createTestDatabase()
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

test('the job-queue schema of a migrated database is current, and an older one is detected', async () => {
  expect(await isJobQueueCurrent(client)).toBe(true)
  await client.query(
    `DELETE FROM ${JOB_SCHEMA}.migrations WHERE id = (SELECT max(id) FROM ${JOB_SCHEMA}.migrations)`,
  )
  // Otherwise a release with a newer library would not migrate the schema of the library.
  expect(await isJobQueueCurrent(client)).toBe(false)
})
