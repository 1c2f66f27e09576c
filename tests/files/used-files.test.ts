import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startBatchVendor, type BatchVendor } from '../batches/batch-vendor.ts'
import { createBatch, toLines, waitForBatch } from '../batches/run-batch.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const CHAT = '/v1/chat/completions'

let gateway: TestGateway
let vendor: BatchVendor
let key: string

beforeAll(async () => {
  vendor = await startBatchVendor()
  gateway = await startTestGateway({
    settings: { ...vendor.settings, PARKWAY_BOOTSTRAP_CREDIT_USD: '100' },
  })
})
beforeEach(async () => {
  vendor.behave({})
  key = (await createAccountKey(gateway, { name: 'user of files', credit_usd: 5 })).key
})
afterAll(async () => {
  await gateway.close()
  await vendor.close()
})

const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, by = key) =>
  gateway.request(method, path, { key: by, ...(body === undefined ? {} : { body }) })

const lineOf = (content: string) => ({
  custom_id: content,
  body: { model: 'gpt-4o-mini', max_tokens: 200, messages: [{ role: 'user', content }] },
})

/** A batch that ends only when it is cancelled, once the vendor has it. */
async function startWaiting() {
  vendor.behave({ answersWhenCancelled: 1 })
  const { body } = await createBatch(gateway, toLines([lineOf('one'), lineOf('two')], CHAT), { key })
  await eventually(async () => {
    if (vendor.asked.filter((path) => path.startsWith('GET')).length < 2) throw new Error('not handed yet')
  })
  return body
}

test('a file that a running batch reads is not deleted, and the refusal names the batch', async () => {
  const batch = await startWaiting()
  const path = `/v1/files/${batch.input_file_id}`
  const refused = await ask('DELETE', path)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
  expect(refused.body.error.message).toContain(batch.id)
  expect((await ask('GET', path)).status).toBe(200)

  await ask('POST', `/v1/batches/${batch.id}/cancel`)
  await waitForBatch(gateway, batch.id, key)
  expect((await ask('DELETE', path)).status).toBe(200)
})

test('strangers cannot tell whether a file is in use', async () => {
  const batch = await startWaiting()
  const { key: other } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 1 })
  const refused = await ask('DELETE', `/v1/files/${batch.input_file_id}`, undefined, other)
  expect([refused.status, refused.body.error.code]).toEqual([404, 'not_found'])
  const listed = await ask('GET', `/v1/batches?file_id=${batch.input_file_id}`, undefined, other)
  expect([listed.status, listed.body.data]).toEqual([200, []])
  await ask('POST', `/v1/batches/${batch.id}/cancel`)
})

test('the batches that read or wrote a file are listed by it', async () => {
  const made = await createBatch(gateway, toLines([lineOf('one')], CHAT), { key })
  const batch = await waitForBatch(gateway, made.body.id, key)
  const other = await createBatch(gateway, toLines([lineOf('other')], CHAT), { key })
  await waitForBatch(gateway, other.body.id, key)
  for (const file of [batch.input_file_id, batch.output_file_id]) {
    const { body } = await ask('GET', `/v1/batches?file_id=${file}`)
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([batch.id])
  }
  const wrong = await ask('GET', '/v1/batches?file_id=something')
  expect([wrong.status, wrong.body.error.param]).toEqual([400, 'file_id'])
})
