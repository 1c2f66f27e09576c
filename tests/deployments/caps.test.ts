import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { chatWith, deploy, ORDER, putToSleep, readEvents, startGpuGateway, waitForStatus } from './deploy.ts'

const KEYS = '/v1/tenants/me/api-keys'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGpuGateway({ PARKWAY_GPU_SLICE_SECONDS: '1' })
})
afterAll(() => gateway.close())

interface LimitedKey {
  readonly id: string
  readonly key: string
}

const createKey = async (limitUsd: number | null): Promise<LimitedKey> => {
  const limit = limitUsd === null ? {} : { limit_usd: limitUsd }
  const { status, body } = await gateway.request('POST', KEYS, {
    body: { name: 'limited', env: 'dev', ...limit },
  })
  expect(status).toBe(201)
  return body
}
const spentBy = async ({ id }: LimitedKey): Promise<number> => {
  const { body } = await gateway.request('GET', `${KEYS}?limit=100`)
  return body.data.find((key: { id: string }) => key.id === id).spent_usd
}
const start = (id: string, key?: string) =>
  gateway.request('POST', `/v1/deployments/${id}/start`, key === undefined ? {} : { key })

describe('GPU time', () => {
  test('counts against the limit of the key that created the deployment, whichever key starts it', async () => {
    // Enough for five seconds of the tier.
    const maker = await createKey(0.003)
    const starter = await createKey(null)
    const id = await deploy(gateway, {}, maker.key)
    await waitForStatus(gateway, id, 'running')
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await waitForStatus(gateway, id, 'stopped')
    expect((await start(id, starter.key)).status).toBe(200)
    const stopped = await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/deployments/${id}`)
      expect([body.status, body.status_reason]).toEqual(['stopped', 'key_limit_reached'])
      return body
    })
    expect(stopped.budget_spent_usd).toBeLessThanOrEqual(0.003)
    await eventually(async () => expect(await spentBy(maker)).toBeCloseTo(stopped.budget_spent_usd, 9))
    expect(await spentBy(starter)).toBe(0)
    expect((await readEvents(gateway, id)).map(({ type }) => type)).toContain('key_limit_reached')
    const refused = await chatWith(gateway, id, { key: starter.key })
    expect([refused.status, refused.body.error.code]).toEqual([402, 'key_limit_reached'])
  })

  test('cannot be started by a key that has reached its limit, even on a deployment of another key', async () => {
    const poor = await createKey(0.0001)
    const id = await deploy(gateway)
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await waitForStatus(gateway, id, 'stopped')
    const started = await start(id, poor.key)
    expect([started.status, started.body.error.code]).toEqual([402, 'key_limit_reached'])
    const created = await gateway.request('POST', '/v1/deployments', { body: ORDER, key: poor.key })
    expect([created.status, created.body.error.code]).toEqual([402, 'key_limit_reached'])
    expect((await gateway.request('GET', `/v1/deployments/${id}`)).body.desired_state).toBe('stopped')
  })

  test('is not started by a chat of a key that has reached its limit, while other keys can wake the deployment', async () => {
    const poor = await createKey(0.0001)
    const rich = await createKey(5)
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    expect((await chatWith(gateway, id, { key: poor.key })).status).toBe(200)
    await putToSleep(gateway, id)
    const refused = await chatWith(gateway, id, { key: poor.key })
    expect([refused.status, refused.body.error.code]).toEqual([402, 'key_limit_reached'])
    expect((await gateway.request('GET', `/v1/deployments/${id}`)).body.status).toBe('sleeping')
    expect((await chatWith(gateway, id, { key: rich.key })).status).toBe(200)
    await gateway.request('DELETE', `/v1/deployments/${id}`)
  })

  test('continues within the limit of the key that created the deployment after that key is revoked', async () => {
    const maker = await createKey(0.003)
    const id = await deploy(gateway, {}, maker.key)
    await waitForStatus(gateway, id, 'running')
    expect((await gateway.request('DELETE', `${KEYS}/${maker.id}`)).status).toBe(200)
    expect((await chatWith(gateway, id)).status).toBe(200)
    const stopped = await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/deployments/${id}`)
      expect([body.status, body.status_reason]).toEqual(['stopped', 'key_limit_reached'])
      return body
    })
    expect(stopped.budget_spent_usd).toBeLessThanOrEqual(0.003)
  })
})
