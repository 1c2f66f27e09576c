import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../../../tests/support/long-or.ts'
import { createId } from '../../kernel/identifiers.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { wholeAccount } from '../../storage/place.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { verifyLedger } from '../ledger/ledger.ts'
import { closeMonths } from './close-months.ts'
import { readStatement } from './read-statement.ts'
import { monthAfter, parseMonth, type StatementMonth } from './statement-month.ts'
import { totalOf } from './statement-sums.ts'
import type { Statement } from './statement.ts'
import { writeEvent, type HistoryEvent } from './testing/write-history.ts'
import { walkRows } from './walk-rows.ts'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 4,
    statementTimeoutMs: 60_000,
    logger: silentLogger,
  })
})

afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

const operator = { name: 'Ada Ltd', address: null, taxId: null, taxLine: null }
const MONTHS = ['2026-05', '2026-06', '2026-07'].map((name) => parseMonth(name) ?? fail())
const END_MS = Date.parse('2026-08-01T01:00:00Z')

function fail(): never {
  throw new Error('no month')
}

const close = (nowMs: number): Promise<number> =>
  closeMonths({ database, operator, nowMs, queueWebhook: async () => {} })

const read = (accountId: string, month: StatementMonth): Promise<Statement> =>
  readStatement(database, wholeAccount(accountId), month, { operator, nowMs: END_MS })

const KEYS = [createId(), createId(), createId()]

/** Near the turn of a month, more often than not. */
const moment = fc.oneof(
  ...MONTHS.slice(1).map(({ fromMs }) => fc.integer({ min: -3, max: 3 }).map((ms) => fromMs + ms)),
  fc.integer({ min: MONTHS[0]?.fromMs ?? 0, max: END_MS - 3_600_001 }),
)
const amount = fc.bigInt({ min: 1n, max: 10n ** 13n })
const event: fc.Arbitrary<HistoryEvent> = fc.oneof(
  fc.record({
    atMs: moment,
    amount,
    kind: fc.constant('charge' as const),
    keyId: fc.constantFrom(...KEYS),
    model: fc.constantFrom('one', 'two, "odd"', '=three'),
    isNamed: fc.boolean(),
  }),
  fc.record({
    atMs: moment,
    amount,
    kind: fc.constantFrom('grant', 'reverse', 'deduct', 'expire'),
    book: fc.constantFrom('cash', 'promotion', 'adjustment'),
  }),
)
const history = fc.record({
  events: fc.array(fc.record({ account: fc.integer({ min: 0, max: 1 }), event }), { maxLength: 20 }),
  closesAfter: fc.array(fc.boolean(), { minLength: MONTHS.length, maxLength: MONTHS.length }),
})

test('statements of random ledgers agree with the ledger to the nano-dollar, closed or not', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ events, closesAfter }) => {
      const accounts = await Promise.all([addAccount(), addAccount()])
      // Accounts of earlier histories have their statements.
      await database.query('DELETE FROM closed_months')
      const sorted = events.toSorted((one, other) => one.event.atMs - other.event.atMs)
      for (const [index, month] of MONTHS.entries()) {
        for (const { account, event: next } of sorted)
          if (next.atMs >= month.fromMs && next.atMs < month.toMs)
            await writeEvent(database, accounts[account] ?? fail(), next)
        if (closesAfter[index] === true)
          await Promise.all([close(month.toMs + 1_000_000), close(month.toMs + 1_000_000)])
      }
      for (const accountId of accounts) await compareWithLedger(accountId)
      const before = await Promise.all(accounts.map(readAll))
      await close(END_MS)
      const after = await Promise.all(accounts.map(readAll))
      expect(after.map(amountsOf)).toEqual(before.map(amountsOf))
    }),
    { numRuns: longOr(300, 12) },
  )
  const numbers = await database.query<{ number: bigint }>('SELECT number FROM statements ORDER BY number')
  expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, index) => BigInt(index + 1)))
  const rules = await verifyLedger(database)
  const own = rules.filter(({ rule }) =>
    /sums of days are the sum of the entries|closed statement/.test(rule),
  )
  expect(own.map(({ differences }) => differences)).toEqual([[], []])
})

async function addAccount(): Promise<string> {
  const id = createId()
  await database.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [id, 'Ada'])
  return id
}

async function sumUntil(accountId: string, atMs: number): Promise<bigint> {
  const [row] = await database.query<{ sum: bigint }>(
    `SELECT coalesce(sum(amount_nano_usd), 0)::bigint AS sum FROM ledger_entries
     WHERE account_id = $1 AND book = 'credit' AND created_at < $2`,
    [accountId, new Date(atMs)],
  )
  return row?.sum ?? fail()
}

async function compareWithLedger(accountId: string): Promise<void> {
  for (const statement of await readAll(accountId)) {
    const { month, balance, charges } = statement
    if (balance === null) return fail()
    expect(balance.openingNanoUsd).toBe(await sumUntil(accountId, month.fromMs))
    expect(balance.closingNanoUsd).toBe(await sumUntil(accountId, month.toMs))
    expect(balance.openingNanoUsd + totalOf(balance.sums)).toBe(balance.closingNanoUsd)
    expect(charges.totalNanoUsd).toBe(-balance.sums.charges)
    for (const lines of Object.values(charges.lines))
      expect(lines.reduce((sum, line) => sum + line.amountNanoUsd, 0n)).toBe(charges.totalNanoUsd)
    let written = 0n
    for await (const part of walkRows(database, wholeAccount(accountId), statement))
      for (const { amountNanoUsd } of part) written += amountNanoUsd
    expect(written).toBe(balance.closingNanoUsd - balance.openingNanoUsd)
  }
}

/** The months from the first movement on. */
async function readAll(accountId: string): Promise<Statement[]> {
  const statements: Statement[] = []
  for (const month of MONTHS) {
    const found = await read(accountId, month).catch(() => null)
    if (found !== null) statements.push(found)
  }
  return statements
}

function amountsOf(statements: readonly Statement[]) {
  return statements.map(({ month, balance, charges }) => ({ month: month.name, balance, charges }))
}

test('a closed statement cannot be changed or deleted in the database, also not by a new name of the account', async () => {
  const accountId = await addAccount()
  const month = parseMonth('2026-05') ?? fail()
  await database.query('DELETE FROM closed_months')
  await writeEvent(database, accountId, { atMs: month.fromMs, amount: 5n, kind: 'grant', book: 'cash' })
  await close(month.toMs + 1_000_000)
  const closed = await read(accountId, month)
  expect([closed.isClosed, closed.account.name]).toEqual([true, 'Ada'])
  await database.query(`UPDATE accounts SET name = 'Bob' WHERE id = $1`, [accountId])
  for (const sql of [
    `UPDATE statements SET closing_nano_usd = 0 WHERE account_id = $1`,
    `DELETE FROM statements WHERE account_id = $1`,
  ])
    await expect(database.query(sql, [accountId])).rejects.toThrow('never changed')
  expect(await read(accountId, month)).toEqual(closed)
})

test('a month is not closed while a transaction that began in it still runs, nor within minutes of its end', async () => {
  const accountId = await addAccount()
  await database.query('DELETE FROM closed_months')
  const month = parseMonth('2026-05') ?? fail()
  await writeEvent(database, accountId, { atMs: month.fromMs, amount: 5n, kind: 'grant', book: 'cash' })
  expect(await close(month.toMs + 1_000)).toBe(0)
  // A month that ends after every transaction of now has begun.
  const farMs = Date.parse('2200-01-01T00:00:00Z')
  await database.transaction(async (transaction) => {
    await transaction.query('SELECT 1')
    const far = { atMs: farMs, amount: 5n, kind: 'grant', book: 'cash' } as const
    const other = await addAccount()
    await database.query('DELETE FROM ledger_by_day WHERE account_id = $1', [other])
    await database.query(`INSERT INTO closed_months VALUES ('2199-12-01', now())`)
    await writeEvent(database, other, far)
    expect(await close(monthAfter(parseMonth('2200-01') ?? fail()).toMs)).toBe(0)
  })
  expect(await close(monthAfter(parseMonth('2200-01') ?? fail()).toMs)).toBeGreaterThan(0)
})
