import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../app/call.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, RUNS } from './wait-for-run.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'green'])
  const hello = () => 'Hello there'
  gateway.upstream.respondWith(speakers({ red: hello, blue: hello, green: hello }))
})
afterAll(() => gateway.close())

test('runs that wait for the rates of their accounts do not hold up a run of another account', async () => {
  const waiting: { id: string; key: string }[] = []
  for (let index = 0; index < 3; index += 1) {
    const manager = await createStranger(gateway, 1)
    const { body: slow } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      key: manager,
      body: { name: 'slow', env: 'dev', requests_per_minute: 1, scopes: ['inference', 'manage'] },
    })
    for (let run = 0; run < 2; run += 1) {
      const { body } = await gateway.request('POST', RUNS, {
        key: slow.key,
        body: { models: ['red', 'blue'], prompts: ['one', 'two'] },
      })
      waiting.push({ id: body.id, key: slow.key })
    }
  }
  for (const { id, key } of waiting)
    await until(
      async () => (await gateway.request('GET', `${RUNS}/${id}`, { key })).body.status === 'running',
    )
  const run = await makeRun(gateway, { models: ['green', 'blue'], prompts: ['one'] })
  expect(run.status).toBe('completed')
  for (const { id, key } of waiting) {
    const { body } = await gateway.request('POST', `${RUNS}/${id}/cancel`, { key })
    expect(body.status).toBe('cancelled')
  }
})
