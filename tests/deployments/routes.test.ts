import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { createOther, deploy, ORDER, startGpuGateway, waitForStatus } from './deploy.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGpuGateway()
})
afterAll(() => gateway.close())

const create = (body: unknown, key?: string) =>
  gateway.request('POST', '/v1/deployments', { body, ...(key === undefined ? {} : { key }) })

describe('GPU tiers', () => {
  test('are listed with their price and availability', async () => {
    const { status, body } = await gateway.request('GET', '/v1/gpu-tiers')
    expect([status, body.cached, body.total]).toEqual([200, true, body.data.length])
    expect(body.tiers).toEqual(body.data)
    expect([body.cached, body.age_seconds]).toEqual([true, expect.any(Number)])
    const tier = body.data.find(({ id }: { id: string }) => id === 'h100_80gb')
    expect(tier).toEqual({
      id: 'h100_80gb',
      gpu_name: 'NVIDIA H100',
      display_name: 'NVIDIA H100',
      gpu_count: 1,
      vram_gb: 80,
      price_per_hour_usd: 3.95,
      price_per_hr_usd: 3.95,
      available: true,
      capacity: '4',
      provider: 'sandbox',
      region: null,
      updated_at: body.updated_at,
    })
  })

  test('are read from the driver by the live list, which shows used GPUs', async () => {
    const free = async () => {
      const { body } = await gateway.request('GET', '/v1/gpu-tiers/live')
      expect(body.cached).toBe(false)
      return Number(body.data.find(({ id }: { id: string }) => id === 'h200_141gb').capacity)
    }
    const before = await free()
    const id = await deploy(gateway, { gpu_tier: 'h200_141gb' })
    await waitForStatus(gateway, id, 'running')
    expect(await free()).toBe(before - 1)
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await waitForStatus(gateway, id, 'stopped')
    expect(await free()).toBe(before)
  })

  test('need a key', async () => {
    for (const path of ['/v1/gpu-tiers', '/v1/gpu-tiers/live', '/v1/deployment-templates'])
      expect((await gateway.request('GET', path, { key: null })).status).toBe(401)
  })
})

test('the sandbox uses the configured tiers and prices', async () => {
  const tiers = {
    tiny_8gb: { gpu_name: 'Tiny', vram_gb: 8, price_per_hour_usd: 0.25, count: 3, region: 'here' },
    tiny_16gb: { gpu_name: 'Tiny', vram_gb: 16, price_per_hour_usd: 0.5, gpu_count: 2 },
  }
  const configured = await startGpuGateway({ PARKWAY_SANDBOX_GPU_TIERS: JSON.stringify(tiers) })
  const { body } = await configured.request('GET', '/v1/gpu-tiers')
  expect(body.data).toMatchObject([
    { id: 'tiny_8gb', gpu_count: 1, price_per_hour_usd: 0.25, capacity: '3', region: 'here' },
    { id: 'tiny_16gb', gpu_count: 2, price_per_hr_usd: 0.5, capacity: '1', region: null },
  ])
  await configured.close()
  for (const wrong of ['[]', '{"A": {}}', '{"a": {"gpu_name": "A", "vram_gb": 1}}', 'x'])
    await expect(startGpuGateway({ PARKWAY_SANDBOX_GPU_TIERS: wrong })).rejects.toThrow(
      'PARKWAY_SANDBOX_GPU_TIERS',
    )
})

test('templates contain only existing models and tiers', async () => {
  const { status, body } = await gateway.request('GET', '/v1/deployment-templates')
  const { body: tiers } = await gateway.request('GET', '/v1/gpu-tiers')
  const tierIds = tiers.data.map(({ id }: { id: string }) => id)
  expect(status).toBe(200)
  expect(body.templates.length).toBeGreaterThanOrEqual(12)
  for (const template of body.templates) {
    expect(tierIds).toContain(template.gpu_tier)
    const { status: created, body: deployment } = await create({
      huggingface_id: template.huggingface_id,
      gpu_tier: template.gpu_tier,
      ...template.defaults,
    })
    expect([template.id, created]).toEqual([template.id, 201])
    await gateway.request('DELETE', `/v1/deployments/${deployment.id}`)
  }
})

describe('creating a deployment', () => {
  test('accepts every setting', async () => {
    const settings = {
      name: 'mine',
      quantization: 'Q4_K_M',
      idle_timeout_minutes: 0,
      budget_limit_usd: 2.5,
      max_model_len: 4096,
      revision: 'main',
      env: { VLLM_LOGGING_LEVEL: 'DEBUG' },
      expected_max_price_per_hr: 1.95,
      hf_token: 'hf_secret',
    }
    const { status, body } = await create({ ...ORDER, ...settings })
    const { env, expected_max_price_per_hr: most, hf_token: token, ...shown } = settings
    expect([status, body]).toEqual([201, expect.objectContaining(shown)])
    expect([env, most, JSON.stringify(body)]).toEqual([env, most, expect.not.stringContaining(token)])
  })

  test.each([
    [{ gpu_tier: 'l4_24gb' }, 'missing_required_parameter', 'huggingface_id'],
    [{ ...ORDER, gpu_tier: 'abacus' }, 'invalid_value', 'gpu_tier'],
    [{ ...ORDER, huggingface_id: '../../etc/passwd' }, 'invalid_value', 'huggingface_id'],
    [{ ...ORDER, huggingface_id: 'a/b; rm -rf /' }, 'invalid_value', 'huggingface_id'],
    [{ ...ORDER, huggingface_id: '--trust-remote-code' }, 'invalid_value', 'huggingface_id'],
    [{ ...ORDER, huggingface_id: 'a/b/c' }, 'invalid_value', 'huggingface_id'],
    [{ ...ORDER, revision: '../main' }, 'invalid_value', 'revision'],
    [{ ...ORDER, quantization: '--load-format' }, 'invalid_value', 'quantization'],
    [{ ...ORDER, idle_timeout_minutes: -1 }, 'invalid_value', 'idle_timeout_minutes'],
    [{ ...ORDER, idle_timeout_minutes: 1.5 }, 'invalid_value', 'idle_timeout_minutes'],
    [{ ...ORDER, budget_limit_usd: 0 }, 'invalid_value', 'budget_limit_usd'],
    [{ ...ORDER, max_model_len: 0 }, 'invalid_value', 'max_model_len'],
    [{ ...ORDER, env: { LD_PRELOAD: '/tmp/x.so' } }, 'invalid_value', 'env.LD_PRELOAD'],
    [{ ...ORDER, env: { PYTHONPATH: '/tmp' } }, 'invalid_value', 'env.PYTHONPATH'],
    [{ ...ORDER, env: { VLLM_X: 'a\nb' } }, 'invalid_value', 'env.VLLM_X'],
  ])('refuses %j', async (body, code, param) => {
    const { status, body: answer } = await create(body)
    expect([status, answer.error.code, answer.error.param]).toEqual([400, code, param])
  })

  test('refuses a tier that costs more than expected', async () => {
    const { status, body } = await create({ ...ORDER, expected_max_price_per_hr: 1.94 })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
  })

  test('is refused without credit', async () => {
    const poor = await createOther(gateway, 0)
    const { status, body, headers } = await create(ORDER, poor)
    expect([status, body.error.code, headers.get('x-should-retry')]).toEqual([
      402,
      'insufficient_balance',
      'false',
    ])
  })

  test('is refused if there are no GPUs', async () => {
    const without = await startTestGateway({ settings: { PARKWAY_GPU_DRIVER: 'none' } })
    try {
      const { status, body } = await without.request('POST', '/v1/deployments', { body: ORDER })
      expect([status, body.error.code]).toEqual([503, 'provider_not_configured'])
      expect((await without.request('GET', '/v1/gpu-tiers')).body.data).toEqual([])
    } finally {
      await without.close()
    }
  })

  test('does not offer simulated GPUs to production keys', async () => {
    const { body: live } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'live', env: 'live', scopes: ['inference'] },
    })
    const { status, body } = await create(ORDER, live.key)
    expect([status, body.error.code]).toEqual([503, 'provider_not_configured'])
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const chat = await gateway.request('POST', '/v1/chat/completions', {
      key: live.key,
      body: { model: `byom-${id}`, messages: [{ role: 'user', content: 'Hello!' }] },
    })
    expect([chat.status, chat.body.error.code]).toEqual([404, 'model_not_found'])
  })
})

describe('reading deployments', () => {
  test('pages through the list and filters by status', async () => {
    const ids = [await deploy(gateway), await deploy(gateway)]
    for (const id of ids) await waitForStatus(gateway, id, 'running')
    const { body: first } = await gateway.request('GET', '/v1/deployments?limit=1&status=running')
    expect([first.data[0].id, first.has_more, first.next_cursor]).toEqual([ids[1], true, ids[1]])
    const { body: next } = await gateway.request('GET', `/v1/deployments?limit=1&after=${first.next_cursor}`)
    expect(next.deployments[0].id).toBe(ids[0])
    const { body: failed } = await gateway.request('GET', '/v1/deployments?status=error')
    expect([failed.data, failed.total]).toEqual([[], 0])
    expect((await gateway.request('GET', '/v1/deployments?status=odd')).status).toBe(400)
  })

  test('returns 404 for unknown ids', async () => {
    for (const id of ['nothing', '01890000-0000-7000-8000-000000000000'])
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/start'],
        ['POST', '/stop'],
        ['GET', '/events'],
        ['GET', '/billing'],
        ['GET', '/logs'],
      ] as const) {
        const { status, body } = await gateway.request(method, `/v1/deployments/${id}${path}`)
        expect([path, status, body.error.code]).toEqual([path, 404, 'not_found'])
      }
  })

  test('returns events in pages and since a time', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const path = `/v1/deployments/${id}/events`
    const { body: all } = await gateway.request('GET', path)
    const { body: first } = await gateway.request('GET', `${path}?limit=2`)
    const { body: rest } = await gateway.request('GET', `${path}?limit=2&after=${first.next_cursor}`)
    expect([...first.events, ...rest.events]).toEqual(all.data)
    const { body: later } = await gateway.request('GET', `${path}?since=${all.data[3].created_at}`)
    expect(later.data.at(-1)).toEqual(all.data[3])
    expect((await gateway.request('GET', `${path}?since=2999-01-01`)).body.data).toEqual([])
    const wrong = await gateway.request('GET', `${path}?since=yesterday`)
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'since'])
  })

  test('shows the log of the engine', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const { body } = await gateway.request('GET', `/v1/deployments/${id}/logs`)
    expect(body.lines.at(-1)).toContain('ready')
    expect((await gateway.request('GET', `/v1/deployments/${id}/logs?lines=1`)).body.lines).toHaveLength(1)
    expect((await gateway.request('GET', `/v1/deployments/${id}/logs?lines=0`)).status).toBe(400)
  })
})

test('a key that is restricted to some models cannot create deployments or change those outside its models', async () => {
  const id = await deploy(gateway)
  const { body: restricted } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'restricted', env: 'dev', allowed_models: ['gpt-4o-mini'], scopes: ['inference'] },
  })
  const { body: owner } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'owner', env: 'dev', allowed_models: [`byom-${id}`], scopes: ['inference'] },
  })
  expect(await create(ORDER, restricted.key)).toMatchObject({
    status: 403,
    body: { error: { code: 'model_not_allowed' } },
  })
  for (const [method, path] of [
    ['POST', `/v1/deployments/${id}/start`],
    ['POST', `/v1/deployments/${id}/stop`],
    ['DELETE', `/v1/deployments/${id}`],
  ] as const)
    expect((await gateway.request(method, path, { key: restricted.key })).status).toBe(403)
  expect((await gateway.request('POST', `/v1/deployments/${id}/stop`, { key: owner.key })).status).toBe(200)
})
