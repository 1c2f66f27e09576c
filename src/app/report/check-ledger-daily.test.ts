import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { readLedgerCheck } from '../../modules/ledger/ledger.ts'
import { checkLedgerDaily } from './check-ledger-daily.ts'
import { createDatabaseStateReader } from './read-database-state.ts'

let stored: TestDatabase
let database: ReturnType<typeof connectDatabase>

beforeAll(async () => {
  stored = await createTestDatabase()
  database = connectDatabase({
    connectionString: stored.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
  })
})
afterAll(async () => {
  await database.close()
  await stored.drop()
})

test('a check that never comes to its end is told of', async () => {
  const { promise: failed, resolve } = Promise.withResolvers<void>()
  const check = checkLedgerDaily({
    database,
    connectionString: 'postgres://127.0.0.1:1/nobody',
    everyMs: 86_400_000,
    lookMs: 1,
    logger: {
      info: () => {},
      warn: (_details, message) => {
        if (message === 'the ledger could not be checked') resolve()
      },
      error: () => {},
    },
  })
  await failed
  await check.close()
  expect(await readLedgerCheck(database)).toEqual({ checkedAt: new Date(0), differences: 0 })
  await database.query('DELETE FROM ledger_check')
})

test('a broken ledger is found by itself, logged with its rule, and told by the metrics', async () => {
  await database.query(`INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd)
    VALUES ('grant:x', gen_random_uuid(), 'cash', 'grant', 5)`)
  const rules: string[] = []
  const { promise: logged, resolve } = Promise.withResolvers<void>()
  const check = checkLedgerDaily({
    database,
    connectionString: stored.connectionString,
    everyMs: 86_400_000,
    lookMs: 1,
    logger: {
      info: () => {},
      warn: () => {},
      error: (details) => {
        rules.push((details as { rule: string }).rule)
        resolve()
      },
    },
  })
  await logged
  await check.close()
  expect(rules).toContain('both sides of every movement add up to nothing')
  expect(await readLedgerCheck(database)).toMatchObject({ differences: rules.length })
  const state = await createDatabaseStateReader(database)()
  expect(state?.ledgerCheck?.differences).toBe(rules.length)
  expect(state).toMatchObject({ tasks: { pending: 0, processing: 0 }, replicationLagBytes: null })
})

test('with zero hours the ledger is not checked', async () => {
  const check = checkLedgerDaily({
    database: { query: () => Promise.reject(new Error('asked')) },
    connectionString: stored.connectionString,
    everyMs: 0,
    lookMs: 1,
    logger: { info: () => {}, warn: () => expect.unreachable(), error: () => expect.unreachable() },
  })
  await check.close()
})
