import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startBatchVendor, type BatchVendor } from './batch-vendor.ts'
import { createBatch, readResults, toLines, waitForBatch } from './run-batch.ts'

const CHAT = '/v1/chat/completions'
const MODEL = 'claude-sonnet-5'
/** What the vendor counts for each line, and half of its price. */
const USAGE = { usage: { input_tokens: 8, output_tokens: 200 } }
const LINE_USD = (8 * 2 + 200 * 10) / 2 / 1_000_000

let vendor: BatchVendor
let directory: string
/** Answers requests. Workers come and go beside it. */
let gateway: TestGateway
let database: Client
let worker: TestGateway
let accountId: string
let key: string

const startWorker = (): Promise<TestGateway> =>
  startTestGateway({
    connectionString: gateway.connectionString,
    settings: { ...settingsOf(), PARKWAY_ROLE: 'worker' },
    mayAnswerAnything: true,
  })
const settingsOf = () => ({
  ...vendor.settings,
  PARKWAY_DATA_DIR: directory,
  PARKWAY_BOOTSTRAP_CREDIT_USD: '100',
})

beforeAll(async () => {
  vendor = await startBatchVendor()
  directory = await mkdtemp(join(tmpdir(), 'parkway-test-'))
  gateway = await startTestGateway({ settings: { ...settingsOf(), PARKWAY_ROLE: 'api' } })
  database = new Client({ connectionString: gateway.connectionString })
  await database.connect()
})
beforeEach(async () => {
  ;({ accountId, key } = await createAccountKey(gateway, { name: 'batcher', credit_usd: 5 }))
  worker = await startWorker()
})
afterEach(() => worker.close())
afterAll(async () => {
  await database.end()
  await gateway.close()
  await vendor.close()
  await removeDirectory(directory)
})

/** Makes a batch whose lines a vendor has, and stops its worker. */
async function leaveAtVendor(count: number, faults: object): Promise<string> {
  vendor.behave({ looks: 1e9, usage: USAGE, ...faults })
  const lines = Array.from({ length: count }, (_, index) => ({
    custom_id: `l${index}`,
    body: { model: MODEL, max_tokens: 200, messages: [{ role: 'user', content: `prompt ${index}` }] },
  }))
  const { body } = await createBatch(gateway, toLines(lines, CHAT), { key })
  await eventually(async () => {
    const { rows } = await database.query('SELECT vendor_id FROM batch_parts WHERE batch_id = $1', [
      uuidOf(body.id),
    ])
    expect(rows.filter(({ vendor_id: id }) => id !== null)).toHaveLength(1)
  })
  await worker.close()
  return body.id
}

const uuidOf = (batchId: string) => batchId.replace('batch_', '')
const codesOf = async (fileId: string | null) =>
  [...(await readResults(gateway, fileId, key)).values()].map(({ error }) => error?.code)
const recordsOf = async () =>
  (await gateway.request('GET', '/v1/usage/records?limit=100', { key })).body.data.length

test('lines whose credit is gone do not keep the others of their batch from their answers', async () => {
  const before = vendor.batches.size
  const id = await leaveAtVendor(10, {})
  const budget = { subject: { type: 'account' }, window: 'month', limit_usd: 5.5 * LINE_USD }
  const set = await gateway.request('POST', '/v1/organization/budgets', { key, body: budget })
  expect(set.status).toBe(200)
  vendor.behave({ usage: USAGE })
  worker = await startWorker()
  const batch = await waitForBatch(gateway, id, key)
  expect([batch.status, batch.request_counts]).toEqual(['completed', { total: 10, completed: 5, failed: 5 }])
  expect([vendor.batches.size - before, vendor.invoice.single, await recordsOf()]).toEqual([1, [], 5])
  expect(batch.cost_usd).toBeCloseTo(5 * LINE_USD, 9)
})

test('a batch that expires at a vendor keeps and charges what was done, and the other lines have an error', async () => {
  const id = await leaveAtVendor(5, { answersWhenCancelled: 2 })
  await database.query(`UPDATE batches SET expires_at = now() - interval '1 s' WHERE id = $1`, [uuidOf(id)])
  worker = await startWorker()
  const batch = await waitForBatch(gateway, id, key)
  expect([batch.status, batch.request_counts]).toEqual(['expired', { total: 5, completed: 2, failed: 0 }])
  expect((await readResults(gateway, batch.output_file_id, key)).size).toBe(2)
  expect(await codesOf(batch.error_file_id)).toEqual(Array(3).fill('batch_expired'))
  expect([vendor.invoice.batch.length, vendor.invoice.single, await recordsOf()]).toEqual([2, [], 2])
  const { body: account } = await gateway.request('GET', '/v1/tenants/me', { key })
  expect(5 - account.balance_usd).toBeCloseTo(2 * LINE_USD, 9)
})

test('a batch whose key was revoked ends, and its vendor is told that nobody waits', async () => {
  const id = await leaveAtVendor(3, {})
  const { body: keys } = await gateway.request('GET', '/v1/tenants/me/api-keys', { key })
  const path = `/v1/admin/accounts/${accountId}/api-keys`
  const { body: other } = await gateway.request('POST', path, { body: { env: 'dev' } })
  const revoked = await gateway.request('DELETE', `/v1/tenants/me/api-keys/${keys.data[0].id}`, { key })
  expect(revoked.status).toBeLessThan(300)
  ;({ key } = other)
  worker = await startWorker()
  const batch = await waitForBatch(gateway, id, key)
  expect([batch.status, batch.request_counts]).toEqual(['completed', { total: 3, completed: 0, failed: 3 }])
  expect(vendor.asked.filter((one) => one.endsWith('/cancel'))).toHaveLength(1)
  const { rows } = await database.query('SELECT FROM batch_parts WHERE batch_id = $1', [uuidOf(id)])
  expect(rows).toEqual([])
})
