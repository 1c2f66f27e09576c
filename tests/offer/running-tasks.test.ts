import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitForTask } from '../generation/wait-for-task.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { explainCharges } from '../support/unexplained-charges.ts'
import { addModel, MODELS } from './offered-model.ts'

const SECOND_USD = 0.1
const SECONDS = 5

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_SANDBOX_JOB_MS: '1500' } })
})
afterAll(() => gateway.close())

async function startVideo(model: string): Promise<string> {
  const made = await addModel(gateway, model, {
    category: 'video',
    context_tokens: null,
    capabilities: ['text_to_video'],
    price: { unit: 'second', usd: SECOND_USD, multipliers: { resolution: { '1080p': 2 } } },
    bounds: { duration_seconds: [SECONDS], resolutions: ['720p', '1080p'] },
    routes: [{ provider: 'fal', model: 'some/video' }],
  })
  expect(made.status).toBe(201)
  const { status, body } = await gateway.request('POST', '/v1/videos/generations', {
    body: { model, prompt: 'Waves', duration: SECONDS, resolution: '1080p' },
  })
  expect(status).toBe(202)
  return body.task_id
}

test('a task is charged by the price of when it was asked for, however the price changes while it runs', async () => {
  const taskId = await startVideo('raised')
  const price = { unit: 'second', usd: 50 * SECOND_USD }
  expect((await gateway.request('POST', `${MODELS}/raised/prices`, { body: { price } })).status).toBe(201)
  const task = await waitForTask(gateway, taskId)
  expect([task.status, task.cost_usd]).toEqual(['completed', 2 * SECONDS * SECOND_USD])
})

test('a task keeps the price that it was asked for at, although that price is deleted while it runs', async () => {
  const prices = `${MODELS}/kling-3/prices`
  const ask = async (): Promise<string> => {
    const { status, body } = await gateway.request('POST', '/v1/videos/generations', {
      body: { model: 'kling-3', prompt: 'Waves', duration: SECONDS },
    })
    expect(status).toBe(202)
    return body.task_id
  }
  const { body: file } = await gateway.request('GET', `${MODELS}/kling-3`)
  const price = { unit: 'second', usd: 2 * file.price.usd }
  const { body: set } = await gateway.request('POST', prices, { body: { price } })
  const before = await ask()
  expect((await gateway.request('DELETE', `${prices}/${set.id}`)).status).toBe(200)
  const [dear, usual] = await Promise.all([before, await ask()].map((id) => waitForTask(gateway, id)))
  expect([dear?.status, dear?.cost_usd]).toEqual(['completed', 2 * (usual?.cost_usd ?? Number.NaN)])
})

test('a task ends and is charged although its model was removed while it ran', async () => {
  const taskId = await startVideo('removed')
  expect((await gateway.request('DELETE', `${MODELS}/removed`)).status).toBe(200)
  const task = await waitForTask(gateway, taskId)
  expect([task.status, task.cost_usd]).toEqual(['completed', 2 * SECONDS * SECOND_USD])
  const { unexplained, checked, withoutList } = await explainCharges(gateway.connectionString)
  expect([unexplained, checked, withoutList]).toEqual([[], 4, 0])
})
