import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount } from '../payments/accounts.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_SANDBOX_JOB_MS: '50' } })
})

afterAll(async () => {
  await gateway.close()
})

const read = (requestId: string, key = gateway.key) =>
  gateway.request('GET', `/v1/requests/${requestId}`, { key })

test('the request of a task names the task, its state and how often it was tried', async () => {
  const made = await gateway.request('POST', '/v1/videos/generations', {
    body: { model: 'wan-2.6-t2v', prompt: 'A paper boat' },
  })
  expect(made.status).toBe(202)
  const requestId = made.headers.get('x-request-id') ?? ''
  await expect.poll(async () => (await read(requestId)).status, { timeout: 30_000 }).toBe(200)
  const { body } = await read(requestId)
  expect(body).toMatchObject({
    request_id: requestId,
    operation: 'video',
    outcome: 'completed',
    task: {
      id: made.body.task_id,
      type: 'video',
      status: 'completed',
      attempts: 1,
      started_at: expect.stringMatching(/Z$/),
      completed_at: expect.stringMatching(/Z$/),
    },
  })
  const { body: own } = await gateway.request('GET', '/v1/tenants/me')
  const asOperator = await gateway.request('GET', `/v1/admin/requests/${requestId}?account_id=${own.id}`)
  expect(asOperator.body.task).toEqual(body.task)
  const { key: stranger } = await createAccount(gateway)
  expect((await read(requestId, stranger)).status).toBe(404)
})

test('a request without a task has none', async () => {
  const answer = await gateway.request('POST', '/v1/chat/completions', {
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
  })
  const requestId = answer.headers.get('x-request-id') ?? ''
  const { body } = await read(requestId)
  expect(body.task).toBeNull()
})
