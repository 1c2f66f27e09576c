import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function untilEnded(id: string) {
  for (;;) {
    const { body } = await gateway.request('GET', `/v1/tasks/${id}?wait=20`)
    if (body.status !== 'pending' && body.status !== 'processing') return body
  }
}

test('a retried task is made and charged again, with the same parameters and metadata', async () => {
  const made = await gateway.request('POST', '/v1/images/generations', {
    body: { model: 'flux-schnell', prompt: 'A cube', n: 2, metadata: { order: 7 } },
  })
  const first = await untilEnded(made.body.id)
  const retried = await gateway.request('POST', `/v1/tasks/${first.id}/retry`)
  expect(retried.status).toBe(202)
  expect(retried.body.id).not.toBe(first.id)
  const second = await untilEnded(retried.body.id)
  expect(second).toMatchObject({
    status: 'completed',
    model: 'flux-schnell',
    prompt: 'A cube',
    metadata: { order: 7 },
    cost_usd: first.cost_usd,
  })
  expect(second.result.data).toHaveLength(2)
})

test('a retried edit uses a copy of the files of the first one', async () => {
  const made = await gateway.request('POST', '/v1/images/upscale', {
    body: { image: `data:image/png;base64,${PIXEL}` },
    headers: { prefer: 'respond-async' },
  })
  expect(made.status).toBe(202)
  const retried = await gateway.request('POST', `/v1/tasks/${made.body.id}/retry`)
  expect(retried.status).toBe(202)
  expect(await untilEnded(retried.body.id)).toMatchObject({ status: 'completed', task_type: 'upscale' })
})

test('a background response, another account and an unknown task cannot be retried', async () => {
  const response = await gateway.request('POST', '/v1/responses', {
    body: { model: 'gpt-5.4-mini', input: 'Hi', background: true },
  })
  expect(response.status).toBe(200)
  const { body: listed } = await gateway.request('GET', '/v1/tasks?task_type=response')
  const refused = await gateway.request('POST', `/v1/tasks/${listed.data[0].id}/retry`)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])

  const { body: mine } = await gateway.request('POST', '/v1/images/generations', {
    body: { model: 'flux-schnell', prompt: 'A cube' },
  })
  const { key } = await createAccountKey(gateway, { name: 'Other', credit_usd: 1 })
  const foreign = await gateway.request('POST', `/v1/tasks/${mine.id}/retry`, { key })
  expect(foreign.status).toBe(404)
  const malformed = await gateway.request('POST', '/v1/tasks/nothing/retry')
  expect(malformed.status).toBe(400)
})
