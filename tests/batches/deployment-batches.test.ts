import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatWith, deploy, startGpuGateway, waitForStatus } from '../deployments/deploy.ts'
import { eventually } from '../support/eventually.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createBatch, readResults, toLines, waitForBatch } from './run-batch.ts'

const CHAT = '/v1/chat/completions'
const SLOTS = 2
/** Much longer than anybody waits behind a line. */
const SLOW = '[[sandbox:latency ms=8000]]'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGpuGateway({
    PARKWAY_LIMITS: JSON.stringify({ local_models: { slots: { 'gpu:sandbox': SLOTS } } }),
  })
})
afterAll(() => gateway.close())

test('lines fill the slots of a deployment, and leave one at once to somebody who asks it', async () => {
  const id = await deploy(gateway)
  await waitForStatus(gateway, id, 'running')
  const queueOf = async () => {
    const { body } = await gateway.request('GET', '/v1/queue/status')
    return body.models.find(({ model }: { model: string }) => model === `byom-${id}`)
  }
  const isFilled = () => eventually(async () => expect((await queueOf()).in_use).toBe(SLOTS))
  const names = ['a', 'b', 'c']
  const lines = names.map((custom_id) => ({
    custom_id,
    body: {
      model: `byom-${id}`,
      messages: [{ role: 'user', content: `${SLOW}[[sandbox:echo ${custom_id}]]` }],
    },
  }))
  const { body: made } = await createBatch(gateway, toLines(lines, CHAT))
  await isFilled()

  expect((await chatWith(gateway, id)).status).toBe(200)

  const { body: meanwhile } = await gateway.request('GET', `/v1/batches/${made.id}`)
  expect(meanwhile.request_counts).toEqual({ total: 3, completed: 0, failed: 0 })
  await isFilled()
  const batch = await waitForBatch(gateway, made.id)
  expect([batch.status, batch.request_counts.completed]).toEqual(['completed', 3])
  const results = await readResults(gateway, batch.output_file_id)
  expect(names.map((name) => results.get(name)?.response?.body.choices[0].message.content)).toEqual(names)
  const { body: usage } = await gateway.request('GET', '/v1/usage/records')
  const charged = usage.data.filter(({ batch: isBatch }: { batch: boolean }) => isBatch)
  expect(charged.map(({ request_id: requestId }: { request_id: string }) => requestId).toSorted()).toEqual(
    [...results.values()].map(({ response }) => String(response?.request_id)).toSorted(),
  )
})
