import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createBatch, readResults, toLines, waitForBatch } from './run-batch.ts'

const CHAT = '/v1/chat/completions'
/** What it costs is set by these tests. */
const MODEL = 'gpt-4o-mini'
const TOKENS = 20
const AS_FAR = { run_as_far_as_credit_goes: true }

let gateway: TestGateway
let database: Database

const setPrice = (usdPer1m: number) => {
  const price = { unit: 'token', input_usd_per_1m: usdPer1m, output_usd_per_1m: usdPer1m }
  return gateway.request('POST', `/v1/admin/models/${MODEL}/prices`, { body: { price } })
}

beforeAll(async () => {
  gateway = await startTestGateway()
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
  })
  expect((await setPrice(100)).status).toBeLessThan(300)
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const paidLines = (count: number, first = `[[sandbox:tokens n=${TOKENS}]]`) =>
  toLines(
    Array.from({ length: count }, (_, index) => ({
      custom_id: `l${index}`,
      body: { model: MODEL, max_tokens: TOKENS, messages: [{ role: 'user', content: first }] },
    })),
    CHAT,
  )
const SLOW = `[[sandbox:latency ms=400]] [[sandbox:tokens n=${TOKENS}]]`
const newAccount = (credit_usd: number) => createAccountKey(gateway, { name: 'payer', credit_usd })
const balanceOf = async (key: string) =>
  (await gateway.request('GET', '/v1/tenants/me', { key })).body.balance_usd
const recordsOf = async (key: string) =>
  (await gateway.request('GET', '/v1/usage/records?limit=100', { key })).body.data

/** What one line costs. */
async function costOfLine(): Promise<number> {
  const { key } = await newAccount(1)
  const { body: made } = await createBatch(gateway, paidLines(1), { key })
  return (await waitForBatch(gateway, made.id, key)).cost_usd
}

test('an account with credit for half of the lines is refused before anything is asked', async () => {
  const { key } = await newAccount(10.5 * (await costOfLine()))
  const { body: made } = await createBatch(gateway, paidLines(20), { key })
  const batch = await waitForBatch(gateway, made.id, key)
  expect([batch.status, batch.errors.data[0].code, batch.cost_usd]).toEqual([
    'failed',
    'insufficient_balance',
    0,
  ])
  expect(await recordsOf(key)).toEqual([])
})

test('a batch that may run as far as it gets is paid for half of the lines, and the others have an error', async () => {
  const credit = 10.5 * (await costOfLine())
  const { key } = await newAccount(credit)
  const { body: made } = await createBatch(gateway, paidLines(20), { key, members: AS_FAR })
  const batch = await waitForBatch(gateway, made.id, key)
  const { completed, failed } = batch.request_counts
  expect([batch.status, completed + failed]).toEqual(['completed', 20])
  expect(completed).toBeGreaterThanOrEqual(5)
  expect(completed).toBeLessThanOrEqual(10)
  expect(await recordsOf(key)).toHaveLength(completed)
  expect(credit - (await balanceOf(key))).toBeCloseTo(batch.cost_usd, 8)
  const errors = await readResults(gateway, batch.error_file_id, key)
  expect([errors.size, [...errors.values()][0]?.error?.code]).toEqual([failed, 'insufficient_balance'])
})

test('a budget that is reached in the middle ends the rest with its reason', async () => {
  const limit = 5.5 * (await costOfLine())
  const { key } = await newAccount(1)
  const budget = { subject: { type: 'account' }, window: 'month', limit_usd: limit }
  const set = await gateway.request('POST', '/v1/organization/budgets', { key, body: budget })
  expect([set.status, set.body.error]).toEqual([200, undefined])
  const { body: made } = await createBatch(gateway, paidLines(20), { key })
  const batch = await waitForBatch(gateway, made.id, key)
  const { completed, failed } = batch.request_counts
  expect([batch.status, completed + failed, completed > 0, completed <= 5]).toEqual([
    'completed',
    20,
    true,
    true,
  ])
  const errors = await readResults(gateway, batch.error_file_id, key)
  expect(new Set([...errors.values()].map(({ error }) => error?.code))).toEqual(new Set(['budget_exceeded']))
  expect(batch.cost_usd).toBeLessThanOrEqual(limit)
})

test('a price that changes in the middle holds for the lines that are asked after it', async () => {
  const { key } = await newAccount(1)
  const { body: made } = await createBatch(gateway, paidLines(48, SLOW), { key })
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/batches/${made.id}`, { key })
    expect(body.request_counts.completed).toBeGreaterThan(0)
  })
  await setPrice(200)
  const batch = await waitForBatch(gateway, made.id, key)
  await setPrice(100)
  const records: { cost_usd: number; prompt_tokens: number; completion_tokens: number }[] =
    await recordsOf(key)
  const prices = records.map((record) =>
    Math.round((record.cost_usd * 1e6) / (record.prompt_tokens + record.completion_tokens)),
  )
  expect([records.length, new Set(prices)]).toEqual([48, new Set([100, 200])])
  expect(records.reduce((sum, record) => sum + record.cost_usd, 0)).toBeCloseTo(batch.cost_usd, 8)
})

test('a batch that expires keeps and charges what was answered', async () => {
  const { key } = await newAccount(1)
  const text = paidLines(3) + paidLines(1, '[[sandbox:latency ms=20000]]').replace('"l0"', '"late"')
  const { body: made } = await createBatch(gateway, text, { key })
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/batches/${made.id}`, { key })
    expect(body.request_counts.completed).toBe(3)
  })
  // As if a day had passed and another process had taken the batch.
  await database.query(
    `UPDATE batches SET expires_at = now() - interval '1 s', worker_id = NULL, claim = claim + 1 WHERE id = $1`,
    [made.id.replace('batch_', '')],
  )
  const batch = await waitForBatch(gateway, made.id, key)
  expect([batch.status, batch.request_counts]).toEqual(['expired', { total: 4, completed: 3, failed: 0 }])
  expect((await readResults(gateway, batch.output_file_id, key)).size).toBe(3)
  const errors = await readResults(gateway, batch.error_file_id, key)
  expect(errors.get('late')?.error?.code).toBe('batch_expired')
  expect([await recordsOf(key).then(({ length }) => length), 1 - (await balanceOf(key))]).toEqual([
    3,
    expect.closeTo(batch.cost_usd, 8),
  ])
})

test('the ledger is clean after all of it', async () => {
  await eventually(async () => {
    const checks = await verifyLedger(database)
    expect(
      checks.flatMap(({ rule, differences }) => differences.map((found) => `${rule}: ${found}`)),
    ).toEqual([])
  })
})
