import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../../storage/testing/test-database.ts'
import { sweepRuns } from './sweep-runs.ts'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

const DAY_MS = 86_400_000

async function insertRun(name: string, members: { status: string; daysAgo: number; isPinned?: boolean }) {
  const { status, daysAgo, isPinned = false } = members
  const endedAt = status === 'queued' ? null : new Date(Date.now() - daysAgo * DAY_MS)
  await database.query(
    `INSERT INTO compare_runs (id, account_id, key_id, environment, name, status, repeats, concurrency, is_blind, seed, models,
       prompts_total, cells_total, estimated_cost_nano_usd, estimated_ms, is_pinned, created_at, updated_at, completed_at)
     SELECT $1, id, $1, 'dev', $2, $3, 1, 1, false, 0, '{}', 1, 1, 0, 0, $4, now(), now(), $5 FROM accounts LIMIT 1`,
    [createId(), name, status, isPinned, endedAt],
  )
}

test('runs that ended long ago are deleted, except for saved ones', async () => {
  await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'Ada')`, [createId()])
  await insertRun('old', { status: 'completed', daysAgo: 91 })
  await insertRun('old and cancelled', { status: 'cancelled', daysAgo: 200 })
  await insertRun('saved', { status: 'completed', daysAgo: 91, isPinned: true })
  await insertRun('new', { status: 'completed', daysAgo: 89 })
  await insertRun('waiting', { status: 'queued', daysAgo: 400 })
  await sweepRuns(database, 90 * DAY_MS)
  const rows = await database.query<{ name: string }>('SELECT name FROM compare_runs ORDER BY name')
  expect(rows.map(({ name }) => name)).toEqual(['new', 'saved', 'waiting'])
})
