import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { verifyPrices } from '../../src/modules/usage/usage.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { modelEntry } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startBatchVendor, type BatchVendor } from './batch-vendor.ts'
import { createBatch, readResults, toLines, waitForBatch } from './run-batch.ts'
import { TOKENS } from './vendor-answers.ts'

const CHAT = '/v1/chat/completions'

let gateway: TestGateway
let vendor: BatchVendor
let directory: string
let key: string

beforeAll(async () => {
  vendor = await startBatchVendor()
  directory = await mkdtemp(join(tmpdir(), 'parkway-test-'))
  const models = ['azure', 'together'].map((provider) =>
    modelEntry(`of-${provider}`, [{ provider, model: 'deployed' }]),
  )
  const catalogFile = join(directory, 'catalog.json')
  await writeFile(catalogFile, JSON.stringify({ models }))
  gateway = await startTestGateway({
    settings: {
      ...vendor.settings,
      PARKWAY_BOOTSTRAP_CREDIT_USD: '100',
      PARKWAY_CATALOG_FILE: catalogFile,
    },
  })
})
beforeEach(async () => {
  vendor.behave({})
  const made = await createAccountKey(gateway, { name: 'batcher', credit_usd: 5 })
  key = made.key
})
afterAll(async () => {
  await gateway.close()
  await vendor.close()
  await removeDirectory(directory)
})

const MODELS = {
  openai: { model: 'gpt-4o-mini', input: 0.15, output: 0.6 },
  anthropic: { model: 'claude-sonnet-5', input: 2, output: 10 },
  google: { model: 'gemini-3.6-flash', input: 1.5, output: 7.5 },
  azure: { model: 'of-azure', input: 1, output: 10 },
  together: { model: 'of-together', input: 1, output: 10 },
} as const
type Form = keyof typeof MODELS

/** The whole price of one line. */
const priceOf = ({ input, output }: (typeof MODELS)[Form]) =>
  (input * TOKENS.prompt + output * TOKENS.completion) / 1_000_000

const prompts = (count: number) => Array.from({ length: count }, (_, index) => `prompt ${index}`)

async function start(form: Form, count: number, members: object = {}) {
  const { model } = MODELS[form]
  const lines = prompts(count).map((content) => ({
    custom_id: content,
    body: { model, max_tokens: 200, messages: [{ role: 'user', content }] },
  }))
  const { body } = await createBatch(gateway, toLines(lines, CHAT), { key, members })
  return body.id
}

async function run(form: Form, count: number, members: object = {}) {
  const batch = await waitForBatch(gateway, await start(form, count, members), key)
  const results = await readResults(gateway, batch.output_file_id, key)
  const errors = await readResults(gateway, batch.error_file_id, key)
  return { batch, results, errors }
}

async function expectCharges(costUsd: number, count: number, creditUsd = 5): Promise<void> {
  const { body: usage } = await gateway.request('GET', '/v1/usage/records?limit=100', { key })
  expect(usage.data.map(({ batch }: { batch: boolean }) => batch)).toEqual(Array(count).fill(true))
  const sum = usage.data.reduce((total: number, record: { cost_usd: number }) => total + record.cost_usd, 0)
  expect(sum).toBeCloseTo(costUsd, 9)
  const { body: account } = await gateway.request('GET', '/v1/tenants/me', { key })
  expect(account.balance_usd).toBeCloseTo(creditUsd - costUsd, 9)
  const database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 30_000,
  })
  const rules = await verifyLedger(database)
  const unexplained: unknown[] = []
  const range = { fromMs: Date.now() - 3_600_000, toMs: Date.now() + 3_600_000 }
  await verifyPrices(database, { range, onDifference: (charge) => unexplained.push(charge) })
  await database.close()
  expect([rules.flatMap(({ differences }) => differences), unexplained]).toEqual([[], []])
}

describe.each(['openai', 'anthropic', 'google', 'azure', 'together'] as const)('a batch for %s', (form) => {
  // Only some models of Together are cheaper in batches, and operators say which ones.
  const price = priceOf(MODELS[form]) * (form === 'together' ? 2 : 1)

  test('is handed to the batch API of the vendor, and each line is charged once at half of its price', async () => {
    const { batch, results } = await run(form, 12)
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 12, completed: 12, failed: 0 },
    })
    for (const prompt of prompts(12))
      expect(results.get(prompt)?.response?.body.choices[0].message.content).toBe(prompt)
    expect([vendor.invoice.batch.toSorted(), vendor.invoice.single]).toEqual([prompts(12).toSorted(), []])
    expect(batch.cost_usd).toBeCloseTo((12 * price) / 2, 9)
    await expectCharges((12 * price) / 2, 12)
  })

  test('has each line once, although the vendor fails some, answers twice, and sends answers of others', async () => {
    vendor.behave({ fails: (prompt) => /[37]$/.test(prompt), isTwice: true })
    const { batch, results, errors } = await run(form, 10)
    expect(batch.request_counts).toEqual({ total: 10, completed: 8, failed: 2 })
    expect([...errors.keys()].toSorted()).toEqual(['prompt 3', 'prompt 7'])
    expect(errors.get('prompt 3')?.response?.status_code).toBe(400)
    for (const [prompt, { response }] of results)
      expect(response?.body.choices[0].message.content).toBe(prompt)
    expect(vendor.invoice.batch).toHaveLength(8)
    await expectCharges((8 * price) / 2, 8)
  })

  test('is sent once, although the vendor throttles it and the answer to its submission is lost', async () => {
    vendor.behave({ throttled: 2, unanswered: 1 })
    const before = vendor.batches.size
    const { batch } = await run(form, 6)
    // A vendor bills batches whose answers nobody reads, too.
    expect(vendor.batches.size - before).toBe(1)
    expect(batch.request_counts).toEqual({ total: 6, completed: 6, failed: 0 })
    expect([vendor.invoice.batch.toSorted(), vendor.invoice.single]).toEqual([prompts(6).toSorted(), []])
    await expectCharges((6 * price) / 2, 6)
  })

  test('keeps what was done when it is cancelled, and charges only that', async () => {
    vendor.behave({ answersWhenCancelled: 2 })
    const before = vendor.batches.size
    const id = await start(form, 5)
    await eventually(async () => expect(vendor.batches.size).toBeGreaterThan(before))
    await gateway.request('POST', `/v1/batches/${id}/cancel`, { key })
    const batch = await waitForBatch(gateway, id, key)
    expect([batch.status, batch.request_counts.completed]).toEqual(['cancelled', 2])
    const errors = await readResults(gateway, batch.error_file_id, key)
    expect([...errors.values()].map(({ error }) => error?.code)).toEqual(Array(3).fill('batch_cancelled'))
    await expectCharges((2 * price) / 2, 2)
  })
})

describe('lines that no batch of a vendor answers are asked one by one, at the whole price', () => {
  const price = priceOf(MODELS.openai)

  test('if they expired at the vendor', async () => {
    vendor.behave({ expires: (prompt) => /[05]$/.test(prompt) })
    const { batch } = await run('openai', 10)
    expect(batch.request_counts).toEqual({ total: 10, completed: 10, failed: 0 })
    expect([vendor.invoice.batch.length, vendor.invoice.single.toSorted()]).toEqual([
      8,
      ['prompt 0', 'prompt 5'],
    ])
    await expectCharges(8 * (price / 2) + 2 * price, 10)
  })

  test('if the vendor lost its batch', async () => {
    vendor.behave({ lost: 1 })
    const { batch } = await run('openai', 3)
    expect([batch.request_counts.completed, vendor.invoice.single.length, vendor.invoice.batch]).toEqual([
      3,
      3,
      [],
    ])
    await expectCharges(3 * price, 3)
  })

  test('if the vendor refuses the batch', async () => {
    vendor.behave({ refuses: true })
    const { batch } = await run('openai', 3)
    expect([batch.request_counts.completed, vendor.invoice.single.length]).toEqual([3, 3])
    await expectCharges(3 * price, 3)
  })

  test('if the answers of the vendor cannot be believed', async () => {
    vendor.behave({ usage: { usage: { prompt_tokens: -5, completion_tokens: -1e20, total_tokens: 1 } } })
    const { batch } = await run('openai', 3)
    expect(batch.request_counts.completed).toBe(3)
    expect(batch.cost_usd).toBeGreaterThan(0)
    await expectCharges(batch.cost_usd, 3)
  })
})

test('results are read from the vendor only, and not where it sends the gateway to', async () => {
  vendor.behave({ redirect: `${vendor.base}/private` })
  const id = await start('openai', 2)
  await eventually(async () =>
    expect(vendor.asked.filter((one) => one.endsWith('/content')).length).toBeGreaterThan(1),
  )
  expect(vendor.asked.filter((one) => one.includes('private'))).toEqual([])
  vendor.behave({})
  const batch = await waitForBatch(gateway, id, key)
  expect([batch.request_counts.completed, vendor.invoice.single]).toEqual([2, []])
})

test('a line that takes several requests is asked by itself, and each of its prompts has its own answer', async () => {
  const [endpoint, model] = ['/v1/completions', MODELS.openai.model]
  const body = { model, max_tokens: 100, prompt: prompts(3) }
  const { body: made } = await createBatch(gateway, toLines([{ custom_id: 'one', body }], endpoint), {
    endpoint,
    key,
  })
  const batch = await waitForBatch(gateway, made.id, key)
  const results = await readResults(gateway, batch.output_file_id, key)
  const choices: { text: string }[] = results.get('one')?.response?.body.choices
  expect(choices.map(({ text }) => text)).toEqual(prompts(3))
  expect([vendor.invoice.batch, vendor.invoice.single.toSorted()]).toEqual([[], prompts(3)])
  await expectCharges(3 * priceOf(MODELS.openai), 1)
})

test('a batch with credit for half of its lines has those answered once by the vendor, and the others have an error', async () => {
  vendor.behave({ usage: { usage: { input_tokens: 8, output_tokens: 200 } } })
  const { input, output } = MODELS.anthropic
  const credit = (10.5 * (8 * input + 200 * output)) / 2 / 1_000_000
  const made = await createAccountKey(gateway, { name: 'payer', credit_usd: credit })
  key = made.key
  const { batch, errors } = await run('anthropic', 20, { run_as_far_as_credit_goes: true })
  const { completed, failed } = batch.request_counts
  // The last one is written as far as the credit goes.
  expect([batch.status, completed + failed, completed >= 5, completed <= 11]).toEqual([
    'completed',
    20,
    true,
    true,
  ])
  expect([vendor.invoice.batch.length, new Set(vendor.invoice.batch).size, vendor.invoice.single]).toEqual([
    completed,
    completed,
    [],
  ])
  const codes = [...errors.values()].map(({ error }) => error?.code)
  expect(codes).toEqual(Array(failed).fill('insufficient_balance'))
  // What this vendor wrote beyond the credit is owed.
  await expectCharges(batch.cost_usd, completed, credit + batch.cost_usd - completed * (credit / 10.5))
})

test('requests in the wires of the vendors are handed over too', async () => {
  const { model } = MODELS.anthropic
  const body = { model, max_tokens: 100, messages: [{ role: 'user', content: 'prompt 0' }] }
  const endpoint = '/v1/messages'
  const { body: made } = await createBatch(gateway, toLines([{ custom_id: 'one', body }], endpoint), {
    endpoint,
    key,
  })
  const batch = await waitForBatch(gateway, made.id, key)
  const results = await readResults(gateway, batch.output_file_id, key)
  expect(results.get('one')?.response?.body).toMatchObject({
    type: 'message',
    content: [{ text: 'prompt 0' }],
  })
  await expectCharges(priceOf(MODELS.anthropic) / 2, 1)
})

test('operators set what lines of batches cost, for those that are handed over and for others', async () => {
  const setPrice = (members: object) =>
    gateway.request('POST', '/v1/admin/models/gpt-4o-mini/prices', {
      body: { price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10, ...members } },
    })
  expect((await setPrice({ batch_factor: 1.5 })).status).toBe(400)
  expect((await setPrice({ batch_factor: 0.8, batch_single_factor: 0.9 })).status).toBe(201)
  const { body: card } = await gateway.request('GET', '/v1/models/gpt-4o-mini', { key })
  expect(card.price).toMatchObject({ batch_factor: 0.8, batch_single_factor: 0.9 })
  vendor.behave({ expires: (prompt) => prompt === 'prompt 0' })
  const { batch } = await run('openai', 3)
  expect(batch.request_counts.completed).toBe(3)
  await expectCharges(0.002 * (0.8 * 2 + 0.9), 3)
})
