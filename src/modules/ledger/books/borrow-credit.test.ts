import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { KeptConnection } from '../../../storage/database.ts'
import { reclaimNow } from '../../../storage/borrowing/reclaim.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { borrowCredit, BorrowerClosed } from './borrow-credit.ts'
import { reclaimLeases, type Payer } from '../ledger.ts'
import { createLedgerStage, type LedgerStage } from '../testing/ledger-stage.ts'

let stage: LedgerStage
let other: KeptConnection

beforeAll(async () => {
  stage = await createLedgerStage()
  other = await stage.database.keepConnection()
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(async () => {
  other.release(false)
  await stage.close()
})

test('a process renews its lease while it waits for a locked account', async () => {
  const { payer, borrowerId } = await prepare({ leaseMs: 3_000 })
  await lockAccount(payer)
  const borrowing = borrow(payer, borrowerId)
  await expect.poll(countWaiting).toBe(1)
  const before = await readExpiry(borrowerId)
  await expect.poll(() => readExpiry(borrowerId)).toBeGreaterThan(before)
  await other.query('COMMIT')
  expect((await borrowing).lent).toMatchObject([{ amountNanoUsd: 100n }])
})

test('credit that a process borrows while it is being closed is taken back', async () => {
  const { payer, borrowerId } = await prepare()
  await lockAccount(payer)
  const borrowing = borrow(payer, borrowerId)
  await expect.poll(countWaiting).toBe(1)
  const closing = close(borrowerId)
  await expect.poll(countWaiting).toBe(2)
  await other.query('COMMIT')
  expect((await borrowing).lent).toMatchObject([{ amountNanoUsd: 100n }])
  await closing
  expect(await countLeases(borrowerId)).toBe(0)
})

test('a process that is being closed borrows nothing more', async () => {
  const { payer, borrowerId } = await prepare()
  await borrow(payer, borrowerId)
  await lockAccount(payer)
  const closing = close(borrowerId)
  await expect.poll(countWaiting).toBe(1)
  const late = borrow(payer, borrowerId)
  void late.catch(() => {})
  await expect.poll(countWaiting).toBe(2)
  await other.query('COMMIT')
  await closing
  await expect(late).rejects.toThrow(BorrowerClosed)
  expect(await countLeases(borrowerId)).toBe(0)
})

async function prepare(options: { leaseMs?: number } = {}) {
  const payer = await stage.createPayer(100n)
  const { borrower } = await stage.createProcess(options)
  return { payer, borrowerId: borrower.id }
}

async function lockAccount({ accountId }: Payer): Promise<void> {
  await other.query('BEGIN')
  await other.query('SELECT FROM credit_accounts WHERE account_id = $1 FOR UPDATE', [accountId])
}

const borrow = ({ accountId }: Payer, borrowerId: string) =>
  borrowCredit(stage.database, { accountId, borrowerId, neededNanoUsd: 100n })

const close = (borrowerId: string) =>
  reclaimNow({ database: stage.database, logger: silentLogger, reclaimers: [reclaimLeases] }, borrowerId)

async function readExpiry(borrowerId: string): Promise<number> {
  const [row] = await stage.database.query<{ expires: number }>(
    'SELECT extract(epoch FROM expires_at)::float AS expires FROM borrowers WHERE id = $1',
    [borrowerId],
  )
  return row?.expires ?? Number.NaN
}

async function countLeases(borrowerId: string): Promise<number> {
  const sql = 'SELECT FROM credit_leases WHERE borrower_id = $1'
  return (await stage.database.query(sql, [borrowerId])).length
}

async function countWaiting(): Promise<number> {
  const waiting = await stage.database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )
  return waiting.length
}
