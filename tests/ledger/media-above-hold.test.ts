import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { waitForTask } from '../generation/wait-for-task.ts'
import { eventually } from '../support/eventually.ts'
import { findUnexplainedCharges } from '../support/unexplained-charges.ts'
import { createAccount } from '../payments/accounts.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { PNG_BASE64, startVendorServer, type VendorServer } from '../upstreams/media/vendor-server.ts'
import { VENDOR_KEY } from '../upstreams/media/vendor-wires.ts'
import { xaiWire } from '../upstreams/media/xai-wire.ts'

const VIDEO = { model: 'grok-imagine-video', prompt: 'Waves', duration: 5 }
const SECOND_USD = 0.05
const IMAGE = { model: 'gpt-image-1.5', prompt: 'A cube', response_format: 'b64_json' }
const IMAGE_USD = 0.04

let vendor: VendorServer
let gateway: TestGateway
let filmSeconds = 5

beforeAll(async () => {
  vendor = await startVendorServer((request, state) => {
    const isImage = request.path === '/openai/v1/images/generations'
    if (isImage)
      return { body: { created: 1, data: Array.from({ length: 3 }, () => ({ b64_json: PNG_BASE64 })) } }
    if (request.method !== 'GET') return xaiWire(request, state)
    const video = { url: `${state.origin}/files/result.mp4`, duration: filmSeconds, respect_moderation: true }
    return { body: { status: 'done', video, model: VIDEO.model } }
  })
  gateway = await startTestGateway({
    settings: {
      XAI_API_KEY: VENDOR_KEY,
      XAI_BASE_URL: `${vendor.origin}/v1`,
      OPENAI_API_KEY: VENDOR_KEY,
      OPENAI_BASE_URL: `${vendor.origin}/openai/v1`,
    },
  })
})
afterAll(async () => {
  const { connectionString } = gateway
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
  const checks = await verifyLedger(database)
  const { unexplained, withoutList } = await findUnexplainedCharges(database)
  await database.close()
  await gateway.close()
  await vendor.close()
  expect(checks.filter(({ differences }) => differences.length > 0)).toEqual([])
  expect([unexplained, withoutList]).toEqual([[], 0])
})

const balanceOf = async (key: string) =>
  (await gateway.request('GET', '/v1/tenants/me', { key })).body.balance_usd
const uncovered = async () => {
  const { body: text } = await gateway.request('GET', '/metrics', { key: null })
  return Number(/^parkway_uncovered_usd_total (\S+)/m.exec(text)?.[1] ?? 0)
}
const makeFilm = async (key: string) => {
  const { status, body } = await gateway.request('POST', '/v1/videos/generations', { key, body: VIDEO })
  expect(status).toBe(202)
  return waitForTask(gateway, body.task_id, key)
}
const paint = (key: string) => gateway.request('POST', '/v1/images/generations', { key, body: IMAGE })

describe('a video that is longer than requested', () => {
  test('is charged to the rest of the balance, even if a process has borrowed it', async () => {
    const { key } = await createAccount(gateway, { creditUsd: 1 })
    filmSeconds = 5
    expect((await makeFilm(key)).cost_usd).toBe(5 * SECOND_USD)
    // This request makes the process borrow credit of the account.
    await gateway.request('POST', '/v1/moderations', { key, body: { input: 'Hi' } })
    filmSeconds = 12
    const task = await makeFilm(key)
    expect([task.cost_usd, task.usage.cost_usd]).toEqual([0.6, 0.6])
    expect(await balanceOf(key)).toBeCloseTo(1 - 17 * SECOND_USD, 9)
  })

  test('costs the requested seconds if only a fraction of a second more was made', async () => {
    const { key } = await createAccount(gateway, { creditUsd: 1 })
    filmSeconds = 5.04
    expect((await makeFilm(key)).cost_usd).toBe(5 * SECOND_USD)
  })

  test('never makes a balance negative; the uncovered rest is counted', async () => {
    const before = await uncovered()
    const { key } = await createAccount(gateway, { creditUsd: 0.3 })
    filmSeconds = 12
    const task = await makeFilm(key)
    expect([task.cost_usd, task.usage.cost_usd, await balanceOf(key)]).toEqual([0.3, 0.3, 0])
    const { body: records } = await gateway.request('GET', '/v1/usage/records', { key })
    expect(records.data).toMatchObject([{ operation: 'video', cost_usd: 0.3, uncovered_usd: 0.3 }])
    expect((await uncovered()) - before).toBeCloseTo(12 * SECOND_USD - 0.3, 9)
  })

  test.each(['the cap of its key', 'a budget'])('stays within %s', async (limit) => {
    const before = await uncovered()
    const { key: uncapped, accountId } = await createAccount(gateway, { creditUsd: 5 })
    const isBudget = limit === 'a budget'
    if (isBudget) await setBudget(accountId)
    const { body: made } = await gateway.request('POST', `/v1/admin/accounts/${accountId}/api-keys`, {
      body: { scopes: ['inference'], ...(isBudget ? {} : { limit_usd: 0.4 }) },
    })
    filmSeconds = 12
    expect((await makeFilm(made.key)).cost_usd).toBe(0.4)
    expect(await balanceOf(uncapped)).toBeCloseTo(4.6, 9)
    expect((await uncovered()) - before).toBeCloseTo(12 * SECOND_USD - 0.4, 9)
  })

  test('stays within every budget on its way: the tightest decides, and all count the same', async () => {
    const before = await uncovered()
    const { key } = await createAccount(gateway, { creditUsd: 5 })
    const budgets: string[] = []
    for (const [subject, limit_usd] of [
      [{ type: 'account' }, 1],
      [{ type: 'tag', id: 'team=film' }, 0.4],
      [{ type: 'tag', id: 'team=other' }, 0],
    ] as const) {
      const body = { subject, limit_usd, window: 'month' }
      const made = await gateway.request('POST', '/v1/organization/budgets', { key, body })
      budgets.push(made.body.id)
    }
    filmSeconds = 12
    const headers = { 'x-gateway-tags': 'team=film' }
    const { body } = await gateway.request('POST', '/v1/videos/generations', { key, headers, body: VIDEO })
    expect((await waitForTask(gateway, body.task_id, key)).cost_usd).toBe(0.4)
    const spent = budgets.map(
      async (id) => (await gateway.request('GET', `/v1/organization/budgets/${id}`, { key })).body.spent_usd,
    )
    expect(await Promise.all(spent)).toEqual([0.4, 0.4, 0])
    expect((await uncovered()) - before).toBeCloseTo(12 * SECOND_USD - 0.4, 9)
  })
})

async function setBudget(accountId: string): Promise<void> {
  const database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
  })
  await database.query(
    `INSERT INTO spend_budgets (account_id, period, limit_nano_usd) VALUES ($1, 'month', 400000000)`,
    [accountId],
  )
  await database.close()
}

describe('more images than requested', () => {
  test('are charged to the rest of the balance', async () => {
    const { key } = await createAccount(gateway, { creditUsd: 1 })
    const { status, body, headers } = await paint(key)
    expect([status, body.usage]).toEqual([200, { images: 3, cost_usd: 3 * IMAGE_USD }])
    expect(headers.get('x-gateway-cost-usd')).toBe('0.12')
    expect(await balanceOf(key)).toBeCloseTo(1 - 3 * IMAGE_USD, 9)
  })

  test('are owed if the account has no more, and the uncovered rest is counted', async () => {
    const before = await uncovered()
    const { key } = await createAccount(gateway, { creditUsd: 0.05 })
    const { status, body } = await paint(key)
    expect([status, body.usage.cost_usd]).toEqual([200, 0.05])
    await eventually(async () => expect(await balanceOf(key)).toBeCloseTo(0.05 - 3 * IMAGE_USD, 9))
    expect((await uncovered()) - before).toBeCloseTo(3 * IMAGE_USD - 0.05, 9)
  })
})
