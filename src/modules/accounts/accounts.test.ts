import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../kernel/testing/fake-clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { grantCredit } from '../ledger/books/move-credit.ts'
import { readBalances } from '../ledger/books/read-ledger.ts'
import { createAccounts, type AccountKeys, type AccountPage, type Accounts } from './accounts.ts'
import type { AccountSort } from './list/list-accounts.ts'

const NEWEST = { sort: 'created', order: 'desc', after: null } as const
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
  const first = await accounts.list({ ...NEWEST, limit: 3 })
  const second = await accounts.list({ ...NEWEST, limit: 3, after: first.nextCursor })
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(created)
  expect([first.total, first.hasMore, second.total, second.hasMore]).toEqual([5, true, 5, false])
})

describe('sorted accounts', () => {
  const names: readonly string[] = ['idle', 'Steady', 'grown', 'shrunk', 'failing', 'idle too']
  let ids: ReadonlyMap<string, string>

  beforeEach(async () => {
    const made: [string, string][] = []
    for (const [index, name] of names.entries()) {
      nowMs += 1
      made.push([name, (await accounts.create({ name, creditNanoUsd: BigInt(index % 3) })).id])
    }
    ids = new Map(made)
    await spend('Steady', 0, 50)
    await spend('Steady', 30, 50)
    await spend('grown', 29, 40)
    // Of the days before: it counts as growth only.
    await spend('shrunk', 59, 90)
    // Of a time that nothing counts.
    await spend('idle', 60, 1_000)
    await fail('failing', 0, 3)
    await fail('grown', 29, 1)
    await fail('shrunk', 30, 100)
  })

  const dayAgo = (days: number): Date => new Date(nowMs - days * 86_400_000)
  const spend = (name: string, daysAgo: number, nanoUsd: number): Promise<unknown> =>
    database.query(
      `INSERT INTO spend_by_day (account_id, day, key_id, writer, spent_nano_usd)
       VALUES ($1, ($2::timestamptz AT TIME ZONE 'UTC')::date, $3, 1, $4)`,
      [ids.get(name), dayAgo(daysAgo), createId(), nanoUsd],
    )
  const fail = (name: string, daysAgo: number, requests: number): Promise<unknown> =>
    database.query(
      `INSERT INTO request_errors (account_id, hour, key_id, model, provider, operation, error_key, environment, outcome,
         http_status, error_code, last_id, requests, first_at, last_at)
       VALUES ($1, date_trunc('hour', $2::timestamptz), $3, '', '', 'chat', 'e', 'dev', 'failed', 502, 'x', $3, $4, $2, $2)`,
      [ids.get(name), dayAgo(daysAgo), createId(), requests],
    )

  const walk = async (sort: AccountSort, order: 'asc' | 'desc', limit: number): Promise<string[]> => {
    const found: string[] = []
    let after: string | null = null
    do {
      const page: AccountPage = await accounts.list({ sort, order, limit, after })
      found.push(...page.items.map(({ name }) => name))
      after = page.nextCursor
    } while (after !== null)
    return found
  }

  test.each([
    ['created', ['idle too', 'failing', 'shrunk', 'grown', 'Steady', 'idle']],
    ['name', ['Steady', 'shrunk', 'idle too', 'idle', 'grown', 'failing']],
    ['balance', ['idle too', 'grown', 'failing', 'Steady', 'shrunk', 'idle']],
    ['spend', ['Steady', 'grown', 'idle too', 'failing', 'shrunk', 'idle']],
    ['growth', ['grown', 'idle too', 'failing', 'Steady', 'idle', 'shrunk']],
    ['errors', ['failing', 'grown', 'idle too', 'shrunk', 'Steady', 'idle']],
  ] as const)(
    'by %s are each on one page, in both directions and also where several are equal',
    async (sort, expected) => {
      for (const limit of [1, 2, 6]) {
        expect(await walk(sort, 'desc', limit)).toEqual(expected)
        expect(await walk(sort, 'asc', limit)).toEqual(expected.toReversed())
      }
    },
  )

  test('have what they spent and how often they failed in 30 days, and what they spent in the 30 before', async () => {
    const { items } = await accounts.list({ ...NEWEST, limit: 10 })
    const figures = items.map((account) => [
      account.name,
      account.spentNanoUsd,
      account.spentBeforeNanoUsd,
      account.failedRequests,
    ])
    expect(figures).toEqual([
      ['idle too', 0n, 0n, 0],
      ['failing', 0n, 0n, 3],
      ['shrunk', 0n, 90n, 0],
      ['grown', 40n, 0n, 1],
      ['Steady', 50n, 50n, 0],
      ['idle', 0n, 0n, 0],
    ])
  })

  test('are found by name in every order', async () => {
    const { items, total } = await accounts.list(
      { sort: 'spend', order: 'desc', limit: 10, after: null },
      { search: 'IDLE', status: null },
    )
    expect([items.map(({ name }) => name), total]).toEqual([['idle too', 'idle'], 2])
  })

  test('are found by their figure, and counted', async () => {
    const find = async (sort: AccountSort, bounds: { least?: bigint; most?: bigint }) => {
      const { items, total } = await accounts.list(
        { sort, order: 'desc', limit: 10, after: null },
        { search: null, status: null, ...bounds },
      )
      return [items.map(({ name }) => name), total]
    }
    expect(await find('spend', { least: 40n })).toEqual([['Steady', 'grown'], 2])
    expect(await find('growth', { most: -1n })).toEqual([['shrunk'], 1])
    expect(await find('errors', { least: 1n, most: 2n })).toEqual([['grown'], 1])
    expect(await find('balance', { least: 3n })).toEqual([[], 0])
  })

  test('do not go on at a cursor of another order, nor at what is no cursor', async () => {
    const { nextCursor } = await accounts.list({ sort: 'spend', order: 'desc', limit: 1, after: null })
    const id = createId()
    const wrong = [
      ['created', nextCursor],
      ['name', nextCursor],
      ['spend', id],
      ['spend', `1_2_${id}`],
      ['spend', `99999999999999999999_${id}`],
      ['spend', `x_${id}`],
      ['created', '1'],
      ['created', ''],
    ] as const
    for (const [sort, after] of wrong)
      await expect(accounts.list({ sort, order: 'desc', limit: 1, after })).rejects.toMatchObject({
        code: 'invalid_value',
        param: 'after',
      })
    // A figure that no account can have any more is only a place in the order.
    const page = await accounts.list({
      sort: 'spend',
      order: 'asc',
      limit: 1,
      after: `9999999999999999999_${id}`,
    })
    expect(page.items).toEqual([])
  })
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
    const { items } = await accounts.list({ ...NEWEST, limit: 10 })
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
    expect((await accounts.list({ ...NEWEST, limit: 1 })).total).toBe(0)
  })
})

const credit = {
  grant: grantCredit,
  readBalances: (accountIds: readonly string[]) => readBalances(database, accountIds),
  postCharges: async () => undefined,
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
