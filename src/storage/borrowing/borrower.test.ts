import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { silentLogger } from '../../kernel/logger.ts'
import { connectDatabase } from '../connection/connect-database.ts'
import type { Database, Queryable } from '../database.ts'
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts'
import { createBorrower, type Borrower } from './borrower.ts'
import { reclaimExpired } from './reclaim.ts'

let testDatabase: TestDatabase
let database: Database
const borrowers: Borrower[] = []

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 8,
    statementTimeoutMs: 10_000,
  })
})

afterAll(async () => {
  for (const borrower of borrowers) await borrower.close()
  await database.close()
  await testDatabase.drop()
})

const LEASE_MS = 600_000

async function register(options: { leaseMs?: number; reclaimed?: string[] } = {}): Promise<Borrower> {
  const { leaseMs = LEASE_MS, reclaimed = [] } = options
  const reclaimers = [async (_transaction: Queryable, id: string) => void reclaimed.push(id)]
  const borrower = await createBorrower({ database, logger: silentLogger, leaseMs, reclaimers })
  borrowers.push(borrower)
  return borrower
}

const expire = (id: string) =>
  database.query(`UPDATE borrowers SET expires_at = now() - interval '1 second' WHERE id = $1`, [id])
const reclaim = (reclaimed: string[] = []) =>
  reclaimExpired({
    database,
    logger: silentLogger,
    reclaimers: [async (_transaction, id) => void reclaimed.push(id)],
  })
const read = async (id: string) => {
  const [row] = await database.query<{ is_open: boolean; left_ms: number }>(
    `SELECT closed_at IS NULL AS is_open, (extract(epoch FROM expires_at - now()) * 1000)::float AS left_ms
     FROM borrowers WHERE id = $1`,
    [id],
  )
  return row
}

test('borrowers that start at the same time get different ids and numbers', async () => {
  const together = await Promise.all(Array.from({ length: 8 }, () => register()))
  expect(new Set(together.map(({ id }) => id)).size).toBe(8)
  expect(new Set(together.map(({ writer }) => writer)).size).toBe(8)
  expect(together.every((borrower) => borrower.isTrusted())).toBe(true)
})

test('the number of a borrower that closed is given out again', async () => {
  const borrower = await register()
  const { writer } = borrower
  await borrower.close()
  expect((await register()).writer).toBe(writer)
})

test('a borrower renews its lease', async () => {
  const borrower = await register({ leaseMs: 300 })
  const { id } = borrower
  await database.query(`UPDATE borrowers SET expires_at = now() + interval '1 millisecond' WHERE id = $1`, [
    id,
  ])
  await expect.poll(async () => (await read(id))?.left_ms, { interval: 5 }).toBeGreaterThan(100)
  expect(borrower.id).toBe(id)
  await borrower.close()
})

test('loans are taken back once, when the lease expires', async () => {
  const borrower = await register()
  const reclaimed: string[] = []
  await reclaim(reclaimed)
  expect(reclaimed).toEqual([])
  await expire(borrower.id)
  await Promise.all([reclaim(reclaimed), reclaim(reclaimed), reclaim(reclaimed)])
  expect(reclaimed).toEqual([borrower.id])
  expect(await read(borrower.id)).toMatchObject({ is_open: false })
})

test('if a reclaimer fails, nothing is taken back and it is retried', async () => {
  const { id } = await register()
  await expire(id)
  const fail = async () => {
    throw new Error('not now')
  }
  await expect(reclaimExpired({ database, logger: silentLogger, reclaimers: [fail] })).rejects.toThrow(
    'not now',
  )
  expect(await read(id)).toMatchObject({ is_open: true })
  const reclaimed: string[] = []
  await reclaim(reclaimed)
  expect(reclaimed).toEqual([id])
})

test('a borrower that was declared dead registers under a new id and notifies all handlers', async () => {
  const borrower = await register({ leaseMs: 300 })
  const dead = borrower.id
  const lost = vi.fn<() => void>()
  borrower.onLost(lost)
  await database.query('UPDATE borrowers SET closed_at = now() WHERE id = $1', [dead])
  await expect.poll(() => borrower.id, { interval: 5 }).not.toBe(dead)
  expect(lost).toHaveBeenCalledOnce()
  expect(borrower.isTrusted()).toBe(true)
  await borrower.close()
})

test('a loss is handled once, however many callers report it and however late', async () => {
  const borrower = await register()
  const dead = borrower.id
  const lost = vi.fn<() => void>()
  borrower.onLost(lost)
  await Promise.all([borrower.declareLost(dead), borrower.declareLost(dead)])
  const { id } = borrower
  await borrower.declareLost(dead)
  expect(lost).toHaveBeenCalledOnce()
  expect(borrower.id).toBe(id)
})

test('while a loss is handled, the borrower is not trusted', async () => {
  const borrower = await register()
  let isTrusted = true
  borrower.onLost(() => {
    isTrusted = borrower.isTrusted()
  })
  await borrower.declareLost(borrower.id)
  expect(isTrusted).toBe(false)
})

test('a borrower that cannot renew is not trusted after its lease expires', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const borrower = await register()
    vi.advanceTimersByTime(LEASE_MS - 1)
    expect(borrower.isTrusted()).toBe(true)
    vi.advanceTimersByTime(1)
    expect(borrower.isTrusted()).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test('a borrower that closes gives everything back', async () => {
  const reclaimed: string[] = []
  const borrower = await register({ reclaimed })
  await borrower.close()
  expect(reclaimed).toEqual([borrower.id])
  expect(await read(borrower.id)).toMatchObject({ is_open: false })
})

test('closed borrowers are deleted after a day', async () => {
  const borrower = await register()
  await borrower.close()
  await database.query(`UPDATE borrowers SET closed_at = now() - interval '25 hours' WHERE id = $1`, [
    borrower.id,
  ])
  await reclaim()
  expect(await read(borrower.id)).toBeUndefined()
})
