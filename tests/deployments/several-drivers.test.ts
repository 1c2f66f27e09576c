import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatWith, deploy, waitForStatus } from './deploy.ts'
import { SCRIPTED } from './local-stage.ts'

const PAIRED = { gpu_name: 'Simulated', vram_gb: 24, price_per_hour_usd: 1, count: 4 }

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({
    settings: {
      PARKWAY_GPU_DRIVER: 'local, sandbox',
      PARKWAY_LOCAL_GPU: JSON.stringify({
        ...SCRIPTED,
        tiers: { cpu_local: { count: 2 } },
        models_dir: '/nowhere',
      }),
      PARKWAY_SANDBOX_GPU_TIERS: JSON.stringify({ far_24gb: PAIRED, cpu_local: PAIRED }),
      PARKWAY_SANDBOX_GPU_START_MS: '100',
    },
  })
})
afterAll(() => gateway.close())

test('tiers of several drivers are offered at once, and of two with the same id that of the first driver', async () => {
  const { body } = await gateway.request('GET', '/v1/gpu-tiers')
  const tiers = body.data.map((tier: { id: string; gpu_name: string }) => [tier.id, tier.gpu_name])
  expect(tiers.map(([id]: [string]) => id).toSorted()).toEqual(['cpu_local', 'far_24gb'])
  expect(tiers).not.toContainEqual(['cpu_local', 'Simulated'])
})

test('a deployment runs where its tier is, and each driver answers for its own', async () => {
  const near = await deploy(gateway, { gpu_tier: 'cpu_local', huggingface_id: 'acme/tiny' })
  const far = await deploy(gateway, { gpu_tier: 'far_24gb', huggingface_id: 'Qwen/Qwen3-8B' })
  await waitForStatus(gateway, near, 'running')
  await waitForStatus(gateway, far, 'running')

  const here = await chatWith(gateway, near)
  expect([here.status, here.headers.get('x-gateway-provider')]).toEqual([200, 'local'])
  expect(here.body.choices[0].message.content).toBe('acme/tiny says hello')
  const there = await chatWith(gateway, far)
  expect([there.status, there.headers.get('x-gateway-provider')]).toEqual([200, 'sandbox'])

  for (const id of [near, far]) {
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await waitForStatus(gateway, id, 'stopped')
  }
})

test.each(['local,local', 'local,none', 'local,', 'cloud'])(
  'a list of drivers like %s is refused at the start',
  async (drivers) => {
    await expect(startTestGateway({ settings: { PARKWAY_GPU_DRIVER: drivers } })).rejects.toThrow(
      /sandbox, local, kubernetes or several of them/,
    )
  },
)
