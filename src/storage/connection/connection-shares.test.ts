import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectDatabase } from './connect-database.ts'
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts'

const POOL_SIZE = 5
/** Four connections are for accounts, and half of them for one account. */
const ACCOUNT_SHARE = 2

let storage: TestDatabase
let database: ReturnType<typeof connectDatabase>
let blocker: Client

beforeAll(async () => {
  storage = await createTestDatabase()
  const { connectionString } = storage
  database = connectDatabase({ connectionString, poolSize: POOL_SIZE, statementTimeoutMs: 600_000 })
  blocker = new Client({ connectionString })
  await blocker.connect()
})

afterAll(async () => {
  await blocker.end()
  await database.close()
  await storage.drop()
})

const one = () => database.query<{ one: number }>('SELECT 1 AS one')
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('an account takes its share of the connections, and all others are free for others', async () => {
  await blocker.query('SELECT pg_advisory_lock(7)')
  const flood = Array.from({ length: 100 }, () =>
    database.shares.runFor('flooding', () => database.query('SELECT pg_advisory_xact_lock(7)')),
  )
  for (const account of ['a', 'b', 'c'])
    expect(await database.shares.runFor(account, one)).toEqual([{ one: 1 }])
  expect(await one()).toEqual([{ one: 1 }])
  expect(database.poolState.waiting).toBe(0)
  const blocked = await one().then(() =>
    database.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
  )
  expect(blocked.length).toBeLessThanOrEqual(ACCOUNT_SHARE)
  await blocker.query('SELECT pg_advisory_unlock(7)')
  await Promise.all(flood)
})

test('a query within a transaction does not wait for the share that the transaction has', async () => {
  const work = () =>
    database.transaction(async (transaction) => [await transaction.query('SELECT 1'), await one()])
  await Promise.all(Array.from({ length: POOL_SIZE * 4 }, () => database.shares.runFor('nested', work)))
})

test('an account with too many queries waiting is refused, and others are not', async () => {
  await blocker.query('SELECT pg_advisory_lock(8)')
  const wait = () =>
    database.shares.runFor('flooding', () => database.query('SELECT pg_advisory_xact_lock(8)'))
  const flood = Array.from({ length: ACCOUNT_SHARE + 256 }, wait)
  await turn()
  await expect(wait()).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  expect(await database.shares.runFor('other', one)).toEqual([{ one: 1 }])
  await blocker.query('SELECT pg_advisory_unlock(8)')
  await Promise.all(flood)
})

test('what goes on after the work of an account has ended is not counted as its own', async () => {
  await blocker.query('SELECT pg_advisory_lock(9)')
  const begin = Promise.withResolvers<void>()
  let later: Promise<unknown> = Promise.resolve()
  await database.shares.runFor('flooding', async () => {
    later = begin.promise.then(one)
  })
  const flood = Array.from({ length: 10 }, () =>
    database.shares.runFor('flooding', () => database.query('SELECT pg_advisory_xact_lock(9)')),
  )
  begin.resolve()
  expect(await later).toEqual([{ one: 1 }])
  await blocker.query('SELECT pg_advisory_unlock(9)')
  await Promise.all(flood)
})
