import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import type { Database, KeptConnection } from '../../../storage/database.ts'
import { BorrowerClosed } from '../books/borrow-credit.ts'
import { AccountBatcher } from './account-batcher.ts'
import { reverseCredit } from '../books/move-credit.ts'
import { writeBudget } from '../books/spend-caps.ts'
import { createLedgerStage, type LedgerStage } from '../testing/ledger-stage.ts'

let stage: LedgerStage
let other: KeptConnection
let transactions = 0
let batcher: AccountBatcher

beforeAll(async () => {
  stage = await createLedgerStage()
  other = await stage.database.keepConnection()
  batcher = new AccountBatcher(countTransactions(stage.database))
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(async () => {
  other.release(false)
  await stage.close()
})

function countTransactions(database: Database): Database {
  return {
    query: (sql, values) => database.query(sql, values),
    transaction: (work) => {
      transactions += 1
      return database.transaction(work)
    },
    keepConnection: () => database.keepConnection(),
    ping: () => database.ping(),
    close: () => database.close(),
  }
}

async function createBorrowerId(): Promise<string> {
  return (await stage.createProcess()).borrower.id
}

async function createAccounts(count: number, creditNanoUsd: bigint): Promise<string[]> {
  const payers = await Promise.all(Array.from({ length: count }, () => stage.createPayer(creditNanoUsd)))
  return payers.map(({ accountId }) => accountId)
}

describe('accounts that borrow at the same time', () => {
  test('each get a slice, in one transaction', async () => {
    const borrowerId = await createBorrowerId()
    const accountIds = await createAccounts(30, 800n)
    transactions = 0
    const borrowed = await Promise.all(
      accountIds.map((accountId, index) =>
        batcher.borrow({ accountId, borrowerId, neededNanoUsd: BigInt(90 + index) }),
      ),
    )
    expect(transactions).toBe(1)
    for (const [index, { lent, state }] of borrowed.entries()) {
      const amountNanoUsd = BigInt(Math.max(100, 90 + index))
      expect(lent).toMatchObject([{ amountNanoUsd, spentNanoUsd: 0n, class: 'paid' }])
      expect(state).toEqual({ freeNanoUsd: 800n - amountNanoUsd, lentNanoUsd: 0n, debtNanoUsd: 0n })
    }
  })

  test('do not wait for an account that another transaction has locked', async () => {
    const borrowerId = await createBorrowerId()
    const [locked = '', ...free] = await createAccounts(5, 800n)
    await other.query('BEGIN')
    await other.query('SELECT FROM credit_accounts WHERE account_id = $1 FOR UPDATE', [locked])
    const late = batcher.borrow({ accountId: locked, borrowerId, neededNanoUsd: 1n })
    const borrowed = await Promise.all(
      free.map((accountId) => batcher.borrow({ accountId, borrowerId, neededNanoUsd: 1n })),
    )
    expect(borrowed.map(({ lent }) => lent.length)).toEqual(free.map(() => 1))
    await other.query('COMMIT')
    expect((await late).lent).toMatchObject([{ amountNanoUsd: 100n }])
  })

  test('get the available credit: none with a debt or an empty balance, and their earlier leases', async () => {
    const borrowerId = await createBorrowerId()
    const [indebted = '', empty = '', rich = ''] = await createAccounts(3, 100n)
    const borrow = (accountId: string, neededNanoUsd: bigint) =>
      batcher.borrow({ accountId, borrowerId, neededNanoUsd })
    await borrow(empty, 100n)
    await stage.database.transaction((transaction) =>
      reverseCredit(transaction, {
        key: createId(),
        accountId: indebted,
        amountNanoUsd: 150n,
        book: 'cash',
        reason: 'refund',
      }),
    )
    const borrowed = await Promise.all([
      borrow(indebted, 5n),
      borrow(empty, 5n),
      borrow(rich, 5n),
      borrow(createId(), 5n).catch((error: unknown) => error),
    ])
    expect(borrowed.slice(0, 3)).toMatchObject([
      { lent: [], state: { freeNanoUsd: 0n, debtNanoUsd: 50n } },
      { lent: [{ amountNanoUsd: 100n }], state: { freeNanoUsd: 0n } },
      { lent: [{ amountNanoUsd: 12n }], state: { freeNanoUsd: 88n } },
    ])
    // Nothing can be lent from an unknown account.
    expect(borrowed[3]).toBeInstanceOf(Error)
  })

  test('may use two borrower ids after the process was declared dead', async () => {
    const [dead, alive] = [await createBorrowerId(), await createBorrowerId()]
    const [first = '', second = '', third = ''] = await createAccounts(3, 800n)
    await stage.declareDead(dead)
    const outcomes = await Promise.allSettled([
      batcher.borrow({ accountId: first, borrowerId: dead, neededNanoUsd: 1n }),
      batcher.borrow({ accountId: second, borrowerId: alive, neededNanoUsd: 1n }),
      batcher.borrow({ accountId: third, borrowerId: alive, neededNanoUsd: 1n }),
    ])
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: expect.any(BorrowerClosed) },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ])
  })
})

test('accounts are read together, with budgets beyond the range of JSON numbers', async () => {
  const borrowerId = await createBorrowerId()
  const [plain = '', capped = ''] = await createAccounts(2, 800n)
  await writeBudget(stage.database, capped, 'month', 9_007_199_254_740_993n)
  await writeBudget(stage.database, capped, 'day', 7n)
  await batcher.borrow({ accountId: capped, borrowerId, neededNanoUsd: 10n })
  const accountIds = [plain, capped, createId()]
  const views = await Promise.all(accountIds.map((accountId) => batcher.view({ accountId, borrowerId })))
  const state = { freeNanoUsd: 800n, lentNanoUsd: 0n, debtNanoUsd: 0n }
  const nextLot = { class: 'paid', expiresAtMs: null }
  const limits = [
    { period: 'day', limitNanoUsd: 7n },
    { period: 'month', limitNanoUsd: 9_007_199_254_740_993n },
  ]
  expect(views).toEqual([
    { limits: [], budgetsVersion: 0n, state, nextLot },
    { limits, budgetsVersion: 0n, state: { ...state, freeNanoUsd: 700n }, nextLot },
    { limits: [], budgetsVersion: 0n, state: { ...state, freeNanoUsd: 0n }, nextLot: null },
  ])
})
