import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../kernel/testing/fake-clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { grantCredit } from '../ledger/books/move-credit.ts'
import { readBalances } from '../ledger/books/read-ledger.ts'
import { createAccounts, type AccountKeys, type Accounts } from './accounts.ts'

const caller = { accountId: createId(), keyId: null }

let testDatabase: TestDatabase
let database: Database
let nowMs: number
let announced: string[]
let accounts: Accounts

beforeEach(async () => {
  testDatabase = await createTestDatabase()
  database = connect()
  nowMs = Date.UTC(2030, 0, 1)
  announced = []
  accounts = createAccounts({ database, clock: fakeClock(() => nowMs), keys: fakeKeys, credit })
})

afterEach(async () => {
  await database.close()
  await testDatabase.drop()
})

test('a new account is active and has its starting credit, exact to the nano-dollar', async () => {
  const account = await accounts.create({ name: 'Ada', creditNanoUsd: 9_000_000_000_000_001n })
  expect(account).toMatchObject({ name: 'Ada', status: 'active', balanceNanoUsd: 9_000_000_000_000_001n })
  expect(await accounts.read(account.id)).toEqual(account)
})

test('an unknown account is not found, whatever its id looks like', async () => {
  for (const id of [createId(), 'not-a-uuid', '']) {
    await expect(accounts.read(id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(accounts.suspend(caller, id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(accounts.activate(caller, id)).rejects.toMatchObject({ code: 'not_found' })
  }
})

test('suspending and activating are announced before they are reported, and may be repeated', async () => {
  const { id } = await accounts.create({ name: 'Ada', creditNanoUsd: 0n })
  nowMs += 1000
  const suspended = await accounts.suspend(caller, id)
  expect(suspended).toMatchObject({ status: 'suspended', updatedAtMs: nowMs })
  nowMs += 1000
  expect(await accounts.suspend(caller, id)).toEqual(suspended)
  expect(await accounts.activate(caller, id)).toMatchObject({ status: 'active', updatedAtMs: nowMs })
  expect(announced).toEqual([id, id, id])
})

test('an account cannot suspend itself', async () => {
  const { id } = await accounts.create({ name: 'Ada', creditNanoUsd: 0n })
  for (const own of [id, id.toUpperCase()]) {
    await expect(accounts.suspend({ ...caller, accountId: id }, own)).rejects.toMatchObject({
      code: 'conflict',
    })
  }
})

test('pages of the list have every account once, newest first', async () => {
  const created: string[] = []
  for (let index = 0; index < 5; index += 1) {
    nowMs += 1
    created.unshift((await accounts.create({ name: `account ${index}`, creditNanoUsd: 0n })).id)
  }
  const first = await accounts.list({ limit: 3, afterId: null })
  const second = await accounts.list({ limit: 3, afterId: first.items.at(-1)?.id ?? null })
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(created)
  expect([first.total, first.hasMore, second.total, second.hasMore]).toEqual([5, true, 5, false])
})

describe('the first account', () => {
  test('is created once, however many processes start together', async () => {
    const processes = Array.from({ length: 8 }, connect)
    const outcomes = await Promise.all(
      processes.map((process) =>
        createAccounts({
          database: process,
          clock: fakeClock(() => nowMs),
          keys: fakeKeys,
          credit,
        }).bootstrapFirstAccount({
          creditNanoUsd: 10n,
        }),
      ),
    )
    await Promise.all(processes.map((process) => process.close()))
    expect(outcomes.filter(({ created }) => created)).toHaveLength(1)
    const { items } = await accounts.list({ limit: 10, afterId: null })
    expect(items).toMatchObject([{ balanceNanoUsd: 10n, status: 'active' }])
  })

  test('is not created, and no key is shown, if the database has an account', async () => {
    await accounts.bootstrapFirstAccount({ creditNanoUsd: 10n })
    expect(await accounts.bootstrapFirstAccount({ creditNanoUsd: 10n, key: 'given' })).toEqual({
      created: false,
    })
  })

  test('has the given key', async () => {
    expect(await accounts.bootstrapFirstAccount({ creditNanoUsd: 0n, key: 'given' })).toMatchObject({
      created: true,
      token: 'given',
    })
  })

  test('is not created without a key if the key is refused', async () => {
    const refusing: AccountKeys = {
      ...fakeKeys,
      issueFirstKey: () => Promise.reject(new Error('not a key')),
    }
    const failing = createAccounts({ database, clock: fakeClock(() => nowMs), keys: refusing, credit })
    await expect(failing.bootstrapFirstAccount({ creditNanoUsd: 1n, key: 'bad' })).rejects.toThrow(
      'not a key',
    )
    expect((await accounts.list({ limit: 1, afterId: null })).total).toBe(0)
  })
})

const credit = {
  grant: grantCredit,
  readBalances: (accountIds: readonly string[]) => readBalances(database, accountIds),
}

const fakeKeys: AccountKeys = {
  announceNewKeys: async () => undefined,
  announceAccountChange: async (accountId) => void announced.push(accountId),
  issueFirstKey: async (_transaction: Queryable, _accountId: string, token = 'made') => ({ token }),
}

function connect(): Database {
  return connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
  })
}
