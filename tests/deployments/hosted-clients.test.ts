import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { safetensorsFile, startHub } from '../upstreams/hub-server.ts'
import { deploy, ORDER, startGpuGateway, waitForStatus } from './deploy.ts'

const HUB_MODEL = {
  info: { cardData: { license: 'apache-2.0' } },
  files: {
    'config.json': {
      architectures: ['Qwen3ForCausalLM'],
      model_type: 'qwen3',
      num_hidden_layers: 36,
      hidden_size: 4096,
      intermediate_size: 12_288,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 151_936,
      max_position_embeddings: 40_960,
    },
    'tokenizer_config.json': { chat_template: '{{ messages }}' },
    'model.safetensors': safetensorsFile({ weights: { dtype: 'BF16', shape: [8_190_735_360] } }),
  },
}
const HUGE_MODEL = {
  ...HUB_MODEL,
  files: {
    ...HUB_MODEL.files,
    'model.safetensors': safetensorsFile({ weights: { dtype: 'BF16', shape: [2_000_000_000_000] } }),
  },
}

let hub: Awaited<ReturnType<typeof startHub>>
let gateway: TestGateway

beforeAll(async () => {
  hub = await startHub({ 'Qwen/Qwen3-8B': HUB_MODEL, 'Giant/Huge': HUGE_MODEL })
  gateway = await startGpuGateway({ HF_ENDPOINT: hub.url, PARKWAY_OUTBOUND_ALLOW: hub.cdnHost })
})
afterAll(async () => {
  await gateway.close()
  await hub.close()
})

const create = (body: object) => gateway.request('POST', '/v1/deployments', { body })

describe('the record of a deployment', () => {
  test('has the members that clients of hosted services read', async () => {
    const { status, body } = await create({ ...ORDER, name: 'mine' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'mine',
      display_name: 'mine',
      gpu_tier: 'l40s_48gb',
      gpu_label: 'L40S 48GB',
      hourly_cost: body.price_per_hr_usd,
      invoke_base_url: `${gateway.baseUrl}/v1/deployments/${body.id}`,
      eta_avg_minutes: expect.any(Number),
      eta_sample_count: expect.any(Number),
      eta_basis: expect.stringMatching(/^(measured|estimated)$/),
    })
    await waitForStatus(gateway, body.id, 'running')
    const chat = await fetch(`${body.invoke_base_url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 }),
    })
    expect([chat.status, await chat.json()]).toEqual([
      200,
      expect.objectContaining({ object: 'chat.completion' }),
    ])
  })

  test('is stopping as soon as it is asked to stop, and deleting it is ok', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const stopped = await gateway.request('POST', `/v1/deployments/${id}/stop`)
    expect([stopped.status, stopped.body.status, stopped.body.desired_state]).toEqual([
      200,
      'stopping',
      'stopped',
    ])
    await waitForStatus(gateway, id, 'stopped')
    const again = await gateway.request('POST', `/v1/deployments/${id}/stop`)
    expect(again.body.status).toBe('stopped')
    const deleted = await gateway.request('DELETE', `/v1/deployments/${id}`)
    expect(deleted.body).toEqual({ id, object: 'deployment', deleted: true, ok: true })
  })
})

describe('a tier', () => {
  test('a tier that is not named is the cheapest on which the model fits', async () => {
    const question = { huggingface_id: 'Qwen/Qwen3-8B' }
    const { body: validated } = await gateway.request('POST', '/v1/hf/validate', { body: question })
    expect([validated.valid, validated.ghost_test_passed]).toEqual([true, true])
    const preview = await gateway.request('GET', '/v1/deployments/preview?huggingface_id=Qwen%2FQwen3-8B')
    expect([preview.status, preview.body.gpu_tier, preview.body.compatible]).toEqual([
      200,
      validated.recommended_gpu_tier,
      true,
    ])
    const made = await create(question)
    expect([made.status, made.body.gpu_tier]).toEqual([201, validated.recommended_gpu_tier])
    const dear = await create({ ...question, expected_max_price_per_hr: 0.01 })
    expect([dear.status, dear.body.error.param]).toEqual([409, 'expected_max_price_per_hr'])
  })

  test('is not chosen for a model that fits on none', async () => {
    const huge = await create({ huggingface_id: 'Giant/Huge' })
    expect([huge.status, huge.body.error.param]).toEqual([400, 'gpu_tier'])
    const preview = await gateway.request('GET', '/v1/deployments/preview?huggingface_id=Giant%2FHuge')
    expect([preview.status, preview.body.compatible]).toEqual([200, false])
  })

  test.each([
    ['l40s', 'l40s_48gb'],
    ['l40s-48gb', 'l40s_48gb'],
    ['L40S 48GB', 'l40s_48gb'],
    ['h100', 'h100_80gb'],
  ])('named %s is %s', async (name, id) => {
    const path = `/v1/deployments/preview?huggingface_id=Qwen%2FQwen3-8B&gpu_tier=${encodeURIComponent(name)}`
    expect((await gateway.request('GET', path)).body.gpu_tier).toBe(id)
  })

  test.each(['l4_48gb', 'toString', '__proto__', '_48gb', 'l40s_'])(
    'named %s does not become another one',
    async (name) => {
      const { status, body } = await create({ ...ORDER, gpu_tier: name })
      expect([status, body.error.param]).toEqual([400, 'gpu_tier'])
    },
  )
})

describe('variables', () => {
  test('variables of the hub are ignored', async () => {
    const env = {
      HF_HOME: '/data',
      HF_HUB_ENABLE_HF_TRANSFER: '1',
      TOKENIZERS_PARALLELISM: 'false',
      VLLM_LOGGING_LEVEL: 'INFO',
    }
    expect((await create({ ...ORDER, env })).status).toBe(201)
  })

  test.each(['HF_TOKEN', 'HF_HUB_TOKEN', 'HF_ENDPOINT', 'LD_PRELOAD', 'PYTHONPATH'])(
    '%s is refused',
    async (name) => {
      const { status, body } = await create({ ...ORDER, env: { [name]: 'x' } })
      expect([status, body.error.param]).toEqual([400, `env.${name}`])
    },
  )
})

describe('a key', () => {
  const make = (mode: unknown) =>
    gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'k', pii_mode: mode } })

  test('may be asked to redact nothing', async () => {
    expect([(await make('off')).status, (await make(null)).status]).toEqual([201, 201])
  })

  test('a key that should redact personal data is refused', async () => {
    const { status, body } = await make('redact')
    expect([status, body.error.param]).toEqual([400, 'pii_mode'])
  })
})
