import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { chatWith, createOther, deploy, startGpuGateway, waitForStatus } from './deploy.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGpuGateway({
    PARKWAY_GPU_DRAIN_MS: '300',
    PARKWAY_LIMITS: JSON.stringify({ local_models: { slots: { 'gpu:sandbox': 1 }, queue_max: 3 } }),
  })
})
afterAll(() => gateway.close())

const readStatus = async (key?: string) =>
  (await gateway.request('GET', '/v1/queue/status', key === undefined ? {} : { key })).body
const modelOf = async (id: string) =>
  (await readStatus()).models.find(({ model }: { model: string }) => model === `byom-${id}`)
const waitForQueue = (id: string, inUse: number, queued: number) =>
  eventually(async () => expect(await modelOf(id)).toMatchObject({ in_use: inUse, queued }))

/** Sends a request that the engine processes until the client disconnects. */
function occupy(id: string, body: object = {}) {
  const leaving = new AbortController()
  const answer = gateway
    .request('POST', '/v1/chat/completions', {
      body: { model: `byom-${id}`, messages: [{ role: 'user', content: '[[sandbox:hang]] x' }], ...body },
      signal: leaving.signal,
    })
    .catch(() => null)
  return { answer, leave: () => leaving.abort() }
}

const deployRunning = async (): Promise<string> => {
  const id = await deploy(gateway)
  await waitForStatus(gateway, id, 'running')
  return id
}

const createKey = async (): Promise<string> =>
  (await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'second', env: 'dev' } })).body
    .key

describe('requests to a deployment', () => {
  test('use the slots of the deployment, wait with keys taking turns, and are refused when the queue is full', async () => {
    const id = await deployRunning()
    const another = await createKey()
    const first = occupy(id)
    await waitForQueue(id, 1, 0)
    const order: string[] = []
    const waiting = []
    for (const [name, key] of [
      ['one', gateway.key],
      ['two', gateway.key],
      ['of another key', another],
    ] as const) {
      waiting.push(chatWith(gateway, id, { key }).then(({ status }) => order.push(`${name} ${status}`)))
      await waitForQueue(id, 1, waiting.length)
    }
    const refused = await chatWith(gateway, id)
    expect([refused.status, refused.body.error.code]).toEqual([429, 'queue_full'])
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(refused.body.error.message).toContain(`byom-${id}`)
    expect(await readStatus()).toMatchObject({ status: 'busy', queue_depth: 3 })
    first.leave()
    await Promise.all(waiting)
    expect(order).toEqual(['one 200', 'of another key 200', 'two 200'])
    await waitForQueue(id, 0, 0)
  })

  test('do not wait for requests to another deployment', async () => {
    const [busy, idle] = [await deployRunning(), await deployRunning()]
    const held = occupy(busy)
    await waitForQueue(busy, 1, 0)
    expect((await chatWith(gateway, idle)).status).toBe(200)
    held.leave()
  })

  test('are refused if they wait when it is stopped, and cut at the drain limit if they are in flight', async () => {
    const id = await deployRunning()
    const whole = occupy(id)
    await waitForQueue(id, 1, 0)
    const waiting = chatWith(gateway, id)
    await waitForQueue(id, 1, 1)
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    const [cut, refused] = await Promise.all([whole.answer, waiting])
    expect([cut?.status, cut?.body.error.code]).toEqual([409, 'deployment_not_ready'])
    expect([refused.status, refused.body.error.code]).toEqual([409, 'deployment_not_ready'])
    await waitForStatus(gateway, id, 'stopped')
  })

  test('end with an error frame at the drain limit if they are streams, with the delivered tokens in the usage records', async () => {
    const id = await deployRunning()
    const messages = [{ role: 'user', content: '[[sandbox:hang after=3]] tell me something long' }]
    const stream = occupy(id, { messages, stream: true })
    await waitForQueue(id, 1, 0)
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    const answer = await stream.answer
    expect(answer?.status).toBe(200)
    expect(answer?.body).toContain('"content"')
    expect(answer?.body).toMatch(/data: \{"error":\{.*\}\}\n\n$/)
    expect(answer?.body).not.toContain('[DONE]')
    await waitForStatus(gateway, id, 'stopped')
    const records = await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/usage/records?model=byom-${id}&limit=100`)
      const chats = body.data.filter(({ operation }: { operation: string }) => operation === 'chat')
      expect(chats).toHaveLength(1)
      return chats
    })
    expect(records[0]).toMatchObject({ cost_usd: 0 })
    expect(records[0].completion_tokens).toBeGreaterThan(0)
  })
})

test('the queue status shows the GPUs, and deployments only to their own account', async () => {
  const id = await deployRunning()
  const other = await createOther(gateway)
  const own = await readStatus()
  expect(own.models).toContainEqual(expect.objectContaining({ model: `byom-${id}`, ready: true, slots: 1 }))
  expect(own.gpus).toContainEqual({
    id: 'l40s_48gb',
    name: 'NVIDIA L40S',
    vram_gb: 48,
    state: 'available',
    available: expect.any(Number),
  })
  const theirs = await readStatus(other)
  expect(theirs.models).toEqual([])
  expect([theirs.status, theirs.queue_depth]).toEqual(['ready', 0])
  await gateway.request('POST', `/v1/deployments/${id}/stop`)
  await eventually(async () => expect(await modelOf(id)).toBeUndefined())
})

test('the queue status counts a machine as taken soon after it is', async () => {
  const free = async () =>
    (await readStatus()).gpus.find(({ id }: { id: string }) => id === 'h100_80gb').available
  const before = await free()
  await deploy(gateway, { gpu_tier: 'h100_80gb' })
  await eventually(async () => expect(await free()).toBe(before - 1))
})
