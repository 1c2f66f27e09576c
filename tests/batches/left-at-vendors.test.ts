import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startBatchVendor, type BatchVendor } from './batch-vendor.ts'
import { createBatch, toLines, waitForBatch } from './run-batch.ts'

const CHAT = '/v1/chat/completions'
const MODELS = { openai: 'gpt-4o-mini', google: 'gemini-3.6-flash' }
/** A batch that does not end by itself. */
const ENDLESS = { looks: 1e9 }
const LINES = 3

let vendor: BatchVendor
let directory: string
/** Answers requests. Workers come and go beside it. */
let gateway: TestGateway
let worker: TestGateway
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
})
beforeEach(async () => {
  ;({ key } = await createAccountKey(gateway, { name: 'batcher', credit_usd: 5 }))
  vendor.files.clear()
  vendor.batches.clear()
  worker = await startWorker()
})
afterEach(() => worker.close())
afterAll(async () => {
  await gateway.close()
  await vendor.close()
  await removeDirectory(directory)
})

async function start(form: keyof typeof MODELS): Promise<string> {
  const lines = Array.from({ length: LINES }, (_, index) => ({
    custom_id: `l${index}`,
    body: {
      model: MODELS[form],
      max_tokens: 200,
      messages: [{ role: 'user', content: `prompt ${index}` }],
    },
  }))
  return (await createBatch(gateway, toLines(lines, CHAT), { key })).body.id
}

/** Gives the work to another worker, which finds a vendor without faults. */
async function replaceWorker(): Promise<void> {
  await worker.close()
  vendor.behave({})
  worker = await startWorker()
}

const asksFor = (end: string) => vendor.asked.filter((one) => one.endsWith(end)).length
const accountOf = async () => (await gateway.request('GET', '/v1/tenants/me', { key })).body

describe('an upload whose batch was not made does not stay at the vendor', () => {
  test('if the worker died before it knew its id', async () => {
    vendor.behave({ silentUploads: 1 })
    const id = await start('openai')
    await eventually(async () => expect(vendor.files.size).toBe(1))
    const [lost = ''] = vendor.files.keys()
    await replaceWorker()
    const batch = await waitForBatch(gateway, id, key)
    expect([batch.status, batch.request_counts.completed]).toEqual(['completed', LINES])
    expect(vendor.asked).toContain(`DELETE /openai/v1/files/${lost}`)
    expect([vendor.files.size, vendor.batches.size]).toEqual([0, 1])
  })

  test('if the vendor throttled its submission, or refused it', async () => {
    vendor.behave({ throttled: 2 })
    await waitForBatch(gateway, await start('openai'), key)
    expect(vendor.files.size).toBe(0)
    vendor.behave({ refuses: true })
    await waitForBatch(gateway, await start('openai'), key)
    expect(vendor.files.size).toBe(0)
  })

  test('if the batch was cancelled before it was submitted', async () => {
    vendor.behave({ silentUploads: 1 })
    const id = await start('openai')
    await eventually(async () => expect(vendor.files.size).toBe(1))
    await worker.close()
    await gateway.request('POST', `/v1/batches/${id}/cancel`, { key })
    vendor.behave({})
    worker = await startWorker()
    expect((await waitForBatch(gateway, id, key)).status).toBe('cancelled')
    expect([vendor.files.size, vendor.batches.size]).toEqual([0, 0])
  })
})

test.each(['openai', 'google'] as const)(
  'a submission that reaches %s after it was given up and repeated is cancelled there',
  async (form) => {
    vendor.behave({ ...ENDLESS, held: 1 })
    const id = await start(form)
    await eventually(async () =>
      expect(vendor.asked.some((one) => /^POST .*(\/v1\/batches|:batchGenerateContent)$/.test(one))).toBe(
        true,
      ),
    )
    await worker.close()
    vendor.behave(ENDLESS)
    worker = await startWorker()
    await eventually(async () => expect(vendor.batches.size).toBe(1))
    vendor.letIn()
    const [first, twin] = vendor.batches.values()
    await eventually(async () => expect([first?.isCancelled, twin?.isCancelled]).toEqual([false, true]))
    vendor.behave({})
    const batch = await waitForBatch(gateway, id, key)
    expect([batch.status, batch.request_counts.completed]).toEqual(['completed', LINES])
    expect([vendor.invoice.batch.length, vendor.invoice.single]).toEqual([LINES, []])
  },
)

test('zero data retention that is switched on cancels batches at vendors, and nothing is charged that is thrown away', async () => {
  vendor.behave({ ...ENDLESS, answersWhenCancelled: LINES })
  const id = await start('openai')
  await eventually(async () => expect(vendor.batches.size).toBe(1))
  const body = { retention_type: 'zero_data_retention' }
  expect((await gateway.request('POST', '/v1/organization/data_retention', { key, body })).status).toBe(200)
  const batch = await waitForBatch(gateway, id, key)
  expect([batch.status, batch.output_file_id, batch.cost_usd]).toEqual(['failed', null, 0])
  expect(batch.errors.data).toMatchObject([{ code: 'conflict' }])
  expect([asksFor('/cancel'), asksFor('/content')]).toEqual([1, 0])
  // Neither the prompts nor the answers stay there.
  const [made] = vendor.batches.values()
  expect([vendor.files.size, asksFor(`/files/out-${made?.id}`)]).toEqual([0, 1])
  expect((await accountOf()).balance_usd).toBe(5)
})
