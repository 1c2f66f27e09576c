import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const UUID = '01890000-0000-7000-8000-000000000000'
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

async function make(prompt: string, members: object = {}, key?: string) {
  const body = { model: 'flux-schnell', prompt, ...members }
  const answer = await gateway.request('POST', '/v1/images/generations', {
    body,
    ...(key !== undefined && { key }),
  })
  expect(answer.status).toBe(202)
  return answer.body
}

async function untilEnded(id: string) {
  for (;;) {
    const { body } = await gateway.request('GET', `/v1/tasks/${id}?wait=20`)
    if (body.status !== 'pending' && body.status !== 'processing') return body
  }
}

describe('a task', () => {
  test('is returned completely, with an address of its output', async () => {
    const receipt = await make('A cube', { metadata: { order: 7 } })
    expect(receipt).toMatchObject({
      task_id: receipt.id,
      status: 'pending',
      poll_url: `/v1/tasks/${receipt.id}`,
    })
    const task = await untilEnded(receipt.id)
    expect(task).toEqual({
      task_id: receipt.id,
      id: receipt.id,
      object: 'task',
      status: 'completed',
      task_type: 'image',
      model: 'flux-schnell',
      progress: 100,
      queue_position: null,
      created_at: expect.stringMatching(TIMESTAMP),
      started_at: expect.stringMatching(TIMESTAMP),
      completed_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
      expires_at: expect.stringMatching(TIMESTAMP),
      poll_url: `/v1/tasks/${receipt.id}`,
      result: expect.objectContaining({ data: [{ url: expect.any(String) }], url: expect.any(String) }),
      error: null,
      usage: expect.any(Object),
      cost_usd: expect.any(Number),
      attempt: 1,
      prompt: 'A cube',
      metadata: { order: 7 },
    })
    const file = await fetch(task.result.url)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png'])
  })

  test('has a retry-after while it has not ended, and none afterwards', async () => {
    const { id } = await make('[[sandbox:latency ms=60000]] A cube')
    const running = await gateway.request('GET', `/v1/tasks/${id}`)
    expect(running.headers.get('retry-after')).toBe('1')
    expect(running.headers.get('openai-poll-after-ms')).toBe('1000')
    const cancelled = await gateway.request('POST', `/v1/tasks/${id}/cancel`)
    expect(cancelled.status).toBe(200)
    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      refunded_at: expect.stringMatching(TIMESTAMP),
    })
    expect([cancelled.body.refund_amount_usd > 0, cancelled.body.cost_usd]).toEqual([true, 0])
    const ended = await gateway.request('GET', `/v1/tasks/${id}?wait=60`)
    expect(ended.body.status).toBe('cancelled')
    expect(ended.headers.get('retry-after')).toBeNull()
  })

  test('a task that failed has the reason, as message and code', async () => {
    const { id } = await make('[[sandbox:error status=500 times=9]] A cube')
    const { status, error, result, cost_usd: costUsd } = await untilEnded(id)
    expect([status, result, costUsd]).toEqual(['failed', null, 0])
    expect(error).toEqual({ message: expect.any(String), type: 'upstream_error', code: 'provider_error' })
  })
})

describe('a long poll', () => {
  test('returns when the state changes', async () => {
    const { id } = await make('[[sandbox:latency ms=60000]] A cube')
    await expect
      .poll(async () => (await gateway.request('GET', `/v1/tasks/${id}`)).body.status)
      .toBe('processing')
    const waiting = gateway.request('GET', `/v1/tasks/${id}?wait=60`)
    await gateway.request('POST', `/v1/tasks/${id}/cancel`)
    expect((await waiting).body.status).toBe('cancelled')
  })

  test.each(['61', '-1', 'x'])('a long poll of %s seconds is refused', async (wait) => {
    const { status, body } = await gateway.request('GET', `/v1/tasks/${UUID}?wait=${wait}`)
    expect([status, body.error.param]).toEqual([400, 'wait'])
  })
})

describe('invalid requests', () => {
  test('a task that has ended cannot be cancelled', async () => {
    const { id } = await make('A cube')
    await untilEnded(id)
    const { status, body } = await gateway.request('POST', `/v1/tasks/${id}/cancel`)
    expect([status, body.error.code]).toEqual([409, 'task_not_cancellable'])
  })

  test.each([
    ['GET', '/v1/tasks/no-uuid'],
    ['POST', '/v1/tasks/no-uuid/cancel'],
    ['GET', '/v1/tasks/no-uuid/webhook-deliveries'],
  ])('%s %s is 400', async (method, path) => {
    const { status, body } = await gateway.request(method, path)
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'task_id'])
  })

  test.each([
    ['GET', `/v1/tasks/${UUID}`],
    ['POST', `/v1/tasks/${UUID}/cancel`],
    ['GET', `/v1/tasks/${UUID}/webhook-deliveries`],
  ])('%s of an unknown task is 404', async (method, path) => {
    const { status, body } = await gateway.request(method, path)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  })

  test("another account's task gives the same answer as an unknown one", async () => {
    const { key } = await createAccountKey(gateway, { name: 'stranger', credit_usd: 1 })
    const { id } = await make('A cube')
    for (const [method, path] of [
      ['GET', `/v1/tasks/${id}`],
      ['GET', `/v1/tasks/${id}?wait=5`],
      ['POST', `/v1/tasks/${id}/cancel`],
      ['GET', `/v1/tasks/${id}/webhook-deliveries`],
    ] as const)
      expect((await gateway.request(method, path, { key })).status).toBe(404)
    expect((await gateway.request('GET', '/v1/tasks', { key })).body.total).toBe(0)
  })

  test.each(['status=done', 'task_type=song', 'limit=0', 'after=x'])('the list refuses %s', async (query) => {
    expect((await gateway.request('GET', `/v1/tasks?${query}`)).status).toBe(400)
  })
})

describe('the list', () => {
  test('is paged, newest first, and accepts filters', async () => {
    const { key } = await createAccountKey(gateway, { name: 'lister', credit_usd: 5 })
    const made: string[] = []
    for (let count = 0; count < 5; count += 1) made.push((await make('A cube', {}, key)).id)
    const video = { model: 'wan-2.6-t2v', prompt: '[[sandbox:latency ms=60000]] Waves' }
    const { body: receipt } = await gateway.request('POST', '/v1/videos/generations', { body: video, key })
    const list = async (query: string) => (await gateway.request('GET', `/v1/tasks?${query}`, { key })).body
    await expect.poll(async () => (await list('status=completed')).total).toBe(5)

    const first = await list('limit=4')
    expect(first).toMatchObject({ object: 'list', total: 6, has_more: true })
    expect(first.tasks).toEqual(first.data)
    const second = await list(`limit=4&after=${first.next_cursor}`)
    expect(second).toMatchObject({ has_more: false, next_cursor: null })
    const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id)
    expect(ids).toEqual([receipt.id, ...made.toReversed()])
    expect((await list('task_type=video')).data.map(({ id }: { id: string }) => id)).toEqual([receipt.id])
    expect((await list('model=flux-schnell')).total).toBe(5)

    const { tasks } = (await gateway.request('GET', '/v1/queue/status')).body
    expect(tasks.pending + tasks.processing).toBeGreaterThan(0)
    await gateway.request('POST', `/v1/tasks/${receipt.id}/cancel`, { key })
  })
})

test('readiness includes the worker', async () => {
  const { status, body } = await gateway.request('GET', '/readyz', { key: null })
  expect([status, body.checks.worker.status]).toEqual([200, 'ok'])
})
