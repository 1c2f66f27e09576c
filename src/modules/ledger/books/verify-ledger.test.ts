import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Queryable } from '../../../storage/database.ts'
import {
  claimLedgerCheck,
  noteFailedCheck,
  noteLedgerCheck,
  readLedgerCheck,
  verifyLedger,
  type Payer,
} from '../ledger.ts'
import { postCharges } from '../journal/post-charges.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'
import { setBudget } from '../testing/test-budget.ts'

let stage: LedgerStage
let process: LedgerProcess
let payer: Payer

beforeAll(async () => {
  stage = await createLedgerStage()
  process = await stage.createProcess()
  payer = await stage.createPayer(1_000n)
  const { ledger, borrower } = process
  const order = { limitNanoUsd: 1_000n, period: 'day' } as const
  for (const subject of ['account', `project:${payer.accountId}`, 'tag:team=search'])
    await setBudget(process, payer, { ...order, subject })
  const labels = ['tag:team=search']
  const hold = await ledger.hold(payer, { ...PLAIN_CHARGE, labels, wantedNanoUsd: 100n, leastNanoUsd: 100n })
  await hold.settle({ costNanoUsd: 80n, record: usageOf(payer, { labels }), isDelivered: false })
  const { accountId } = payer
  await stage.database.transaction(async (transaction) => {
    const ofHold = { accountId, amountNanoUsd: 50n, expiresAtMs: Date.UTC(2040, 0, 1), caps: [] }
    await ledger.openHold(transaction, { ...ofHold, key: 'settled' })
    await ledger.openHold(transaction, { ...ofHold, key: 'open' })
    const usage = { writer: borrower.writer, record: usageOf(payer) }
    await ledger.settleHold(transaction, { key: 'settled', chargedNanoUsd: 20n, reason: 'work', usage })
  })
  await postCharges(stage.database)
})

afterAll(() => stage.close())

test('an untouched ledger verifies', async () => {
  expect(await stage.findDifferences()).toEqual([])
})

test('one process checks the ledger when it is due, and again if a check does not come to its end', async () => {
  const { database } = stage
  const DAY_MS = 86_400_000
  const claims = await Promise.all([claimLedgerCheck(database, DAY_MS), claimLedgerCheck(database, DAY_MS)])
  expect(claims.toSorted()).toEqual([false, true])
  expect(await readLedgerCheck(database)).toBeNull()
  await database.query(`UPDATE ledger_check SET begun_at = now() - interval '2 hours'`)
  expect(await claimLedgerCheck(database, DAY_MS)).toBe(false)
  await database.query(`UPDATE ledger_check SET begun_at = now() - interval '7 hours'`)
  expect(await claimLedgerCheck(database, DAY_MS)).toBe(true)
  await noteFailedCheck(database)
  expect((await readLedgerCheck(database))?.checkedAt.getTime()).toBe(0)
  await noteLedgerCheck(database, 2)
  expect(await readLedgerCheck(database)).toMatchObject({ differences: 2 })
  await database.query(`UPDATE ledger_check SET begun_at = now() - interval '2 hours'`)
  expect(await claimLedgerCheck(database, DAY_MS)).toBe(false)
  await database.query(`UPDATE ledger_check SET begun_at = now() - interval '25 hours'`)
  expect(await claimLedgerCheck(database, DAY_MS)).toBe(true)
})

describe('tampering is found, and the rule named', () => {
  test.each([
    [
      'both sides of every movement',
      `UPDATE ledger_entries SET amount_nano_usd = amount_nano_usd + 1 WHERE book = 'cash'`,
    ],
    [
      'both sides of every movement',
      `DELETE FROM ledger_entries WHERE book = 'revenue' AND key LIKE 'charge:%'`,
    ],
    [
      'both sides of every movement',
      `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd)
       SELECT key, account_id, book, kind, amount_nano_usd FROM ledger_entries WHERE kind = 'charge'`,
    ],
    [
      'every balance is the sum',
      `UPDATE ledger_entries SET amount_nano_usd = amount_nano_usd * 2 WHERE kind = 'grant'`,
    ],
    ['every balance is the sum', 'UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd - 1'],
    ['every balance is the sum', 'UPDATE credit_accounts SET debt_nano_usd = 1'],
    [
      'every balance is the sum',
      'UPDATE credit_leases SET spent_nano_usd = spent_nano_usd - 1 WHERE spent_nano_usd > 0',
    ],
    ['every balance is the sum', 'DELETE FROM ledger_entries'],
    ['every charge is a request', 'DELETE FROM usage_records'],
    ['every charge is a request', 'UPDATE usage_records SET cost_nano_usd = cost_nano_usd + 1'],
    [
      'every charge is a request',
      `UPDATE ledger_entries SET account_id = gen_random_uuid() WHERE kind = 'charge'`,
    ],
    ['rollups are the sum', 'UPDATE usage_rollups SET requests = requests + 1'],
    ['rollups are the sum', 'DELETE FROM usage_rollups'],
    ['what counts against caps', 'UPDATE spend_by_day SET spent_nano_usd = 0'],
    ['what counts against caps', 'DELETE FROM spend_by_day'],
    ['what counts against caps', 'UPDATE spend_by_day SET day = day - 1'],
    ['what counts against caps', 'UPDATE spend_by_day SET key_id = gen_random_uuid()'],
    ['what counts against budgets', 'UPDATE budget_spending SET spent_nano_usd = spent_nano_usd - 1'],
    ['what counts against budgets', 'UPDATE budget_spending SET window_start = window_start + 1'],
    ['what counts against budgets', 'DELETE FROM budget_spending'],
    [
      'what counts against budgets',
      `DELETE FROM budget_spending USING budgets WHERE id = budget_id AND subject = 'tag:team=search'`,
    ],
    ['what counts against budgets', 'UPDATE usage_by_label SET cost_nano_usd = cost_nano_usd + 1'],
    ['nothing is lent to the dead', 'UPDATE borrowers SET closed_at = now()'],
    ['every open hold has what it holds', `DELETE FROM credit_leases WHERE hold_key = 'open'`],
    ['every open hold has what it holds', `UPDATE credit_holds SET status = 'released' WHERE key = 'open'`],
    ['every open hold has what it holds', `UPDATE credit_holds SET amount_nano_usd = 49 WHERE key = 'open'`],
  ])('%s: %s', async (rule, sql) => {
    expect(await rulesBrokenBy(sql)).toContainEqual(expect.stringContaining(rule))
  })
})

test.each([
  ['UPDATE', 'UPDATE ledger_entries SET reason = NULL'],
  ['DELETE', 'DELETE FROM ledger_entries'],
])('%s of an entry is refused by the database itself', async (_name, sql) => {
  await expect(stage.database.query(sql)).rejects.toThrow('rows of ledger_entries are never changed')
})

class Undone extends Error {}

/** Runs in a transaction that is rolled back, with the trigger on the entries disabled. */
async function rulesBrokenBy(sql: string): Promise<string[]> {
  let rules: string[] = []
  const tamper = async (transaction: Queryable): Promise<void> => {
    await transaction.query(`SET LOCAL session_replication_role = replica`)
    await transaction.query(sql)
    const checks = await verifyLedger(transaction)
    rules = checks.filter(({ differences }) => differences.length > 0).map(({ rule }) => rule)
    throw new Undone()
  }
  await expect(stage.database.transaction(tamper)).rejects.toBeInstanceOf(Undone)
  return rules
}
