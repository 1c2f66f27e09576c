import { expect, onTestFinished, TestRunner } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'

/** Starts a gateway whose simulated GPUs start quickly. */
export function startGpuGateway(settings: Record<string, string> = {}): Promise<TestGateway> {
  return startTestGateway({
    settings: { PARKWAY_SANDBOX_GPU_START_MS: '100', PARKWAY_GPU_DRAIN_MS: '5000', ...settings },
  })
}

export const ORDER = { huggingface_id: 'Qwen/Qwen3-8B', gpu_tier: 'l40s_48gb' }

/** Deploys a model. At the end of the test, also of one that fails, the machine is released: the tier has few. */
export async function deploy(gateway: TestGateway, order: object = {}, key?: string): Promise<string> {
  const { status, body } = await gateway.request('POST', '/v1/deployments', {
    body: { ...ORDER, ...order },
    ...(key === undefined ? {} : { key }),
  })
  expect([status, body]).toEqual([
    201,
    expect.objectContaining({ object: 'deployment', desired_state: 'running' }),
  ])
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => release(gateway, body.id, key))
  return body.id
}

async function release(gateway: TestGateway, id: string, key?: string): Promise<void> {
  const options = key === undefined ? {} : { key }
  // A test may have deleted the deployment, or stopped the gateway.
  await gateway.request('DELETE', `/v1/deployments/${id}`, options).catch(() => undefined)
}

/** Waits until the deployment has this status in the database and this process has read it. */
export async function waitForStatus(
  gateway: TestGateway,
  id: string,
  status: string,
): Promise<TestAnswer['body']> {
  return eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/deployments/${id}`)
    expect(body.status).toBe(status)
    const { body: queue } = await gateway.request('GET', '/v1/queue/status')
    const served = queue.models.find(({ model }: { model: string }) => model === `byom-${id}`)
    if (served !== undefined) expect(served.ready).toBe(status === 'running')
    return body
  })
}

/** Puts a deployment to sleep, as after its idle timeout. */
export async function putToSleep(gateway: TestGateway, id: string): Promise<void> {
  await waitForStatus(gateway, id, 'running')
  const { connectionString } = gateway
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
  try {
    await database.query(
      `UPDATE deployments SET desired_state = 'sleeping', intent = intent + 1, next_look_at = now(), updated_at = now()
       WHERE id = $1`,
      [id],
    )
  } finally {
    await database.close()
  }
  await waitForStatus(gateway, id, 'sleeping')
}

export const chatWith = (gateway: TestGateway, id: string, options: { body?: object; key?: string } = {}) =>
  gateway.request('POST', '/v1/chat/completions', {
    body: { model: `byom-${id}`, messages: [{ role: 'user', content: 'Hello!' }], ...options.body },
    ...(options.key === undefined ? {} : { key: options.key }),
  })

export async function readEvents(
  gateway: TestGateway,
  id: string,
): Promise<{ type: string; from: string; to: string }[]> {
  const { body } = await gateway.request('GET', `/v1/deployments/${id}/events?limit=100`)
  return body.data
}

/** Creates another account with credit and returns a key of it. */
export async function createOther(gateway: TestGateway, creditUsd = 10): Promise<string> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'other' } })
  if (creditUsd > 0)
    await gateway.request('POST', `/v1/admin/accounts/${account.id}/credit`, {
      body: { amount_usd: creditUsd, reason: 'test' },
    })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { name: 'other', env: 'dev', scopes: ['inference'] },
  })
  return key.key
}
