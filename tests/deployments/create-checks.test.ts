import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { COMMIT, safetensorsFile, startHub, type HubServer } from '../upstreams/hub-server.ts'
import { deploy, readEvents, startGpuGateway, waitForStatus } from './deploy.ts'
import { SCRIPTED } from './local-stage.ts'

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  num_hidden_layers: 32,
  hidden_size: 4096,
  intermediate_size: 14_336,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 128_256,
  max_position_embeddings: 131_072,
}
const WEIGHTS = safetensorsFile({
  a: { dtype: 'BF16', shape: [4_015_130_624] },
  b: { dtype: 'BF16', shape: [4_015_130_624] },
})
const GOOD = { 'config.json': CONFIG, 'model.safetensors': WEIGHTS }
/** A config nested so deeply that a recursive parser would overflow the stack. */
const DEEP = Buffer.from(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)

let hub: HubServer
let gateway: TestGateway

beforeAll(async () => {
  hub = await startHub({
    'org/good': { files: GOOD },
    'org/gated': { files: GOOD, info: { gated: 'manual' }, token: 'hf_right' },
    'org/pickled': { files: { 'config.json': CONFIG, 'pytorch_model.bin': Buffer.alloc(10) } },
    'org/coded': { files: { ...GOOD, 'config.json': { ...CONFIG, auto_map: { AutoModel: 'm.Model' } } } },
    'org/deep': { files: { 'config.json': DEEP, 'model.safetensors': WEIGHTS } },
    'org/climbing': { files: GOOD, lies: { 'config.json': { path: '../../../etc/cron.d/job' } } },
    'org/gguf': {
      files: {
        'tiny-Q8_0.gguf': createTinyGguf({ seed: 1 }),
        'tiny-Q4_K_M-00001-of-00002.gguf': createTinyGguf({ seed: 2, split: { number: 1, count: 2 } }),
        'tiny-Q4_K_M-00002-of-00002.gguf': createTinyGguf({ seed: 3, split: { number: 2, count: 2 } }),
        'mmproj-tiny-F16.gguf': createTinyGguf({ seed: 4 }),
      },
    },
    'org/boasting': { files: { 'a-Q4_0.gguf': createTinyGguf({ claimedTensors: 2n ** 60n }) } },
    'org/no-gguf': { files: { 'a-Q4_0.gguf': Buffer.alloc(100_000, 'x') } },
    'org/half': { files: { 'a-Q4_0-00001-of-00002.gguf': createTinyGguf() } },
  })
  gateway = await startGpuGateway({ HF_ENDPOINT: hub.url, PARKWAY_OUTBOUND_ALLOW: hub.cdnHost })
})
afterAll(async () => {
  await gateway.close()
  await hub.close()
})
beforeEach(() => {
  hub.requests.length = 0
  hub.redirectTo(null)
})

const create = (id: string, order: object = {}, target = gateway) =>
  target.request('POST', '/v1/deployments', {
    body: { huggingface_id: id, gpu_tier: 'l40s_48gb', ...order },
  })
const validate = (body: object) => gateway.request('POST', '/v1/hf/validate', { body })

describe('creating a deployment', () => {
  test('pins the revision to the commit that was checked', async () => {
    const { status, body } = await create('org/good', { revision: 'main' })
    expect([status, body.revision]).toEqual([201, COMMIT])
  })

  test.each([
    ['org/nowhere', {}, 'huggingface_id', /no such/],
    ['org/gated', {}, 'hf_token', /token/],
    ['org/gated', { hf_token: 'hf_wrong' }, 'hf_token', /token/],
    ['org/pickled', {}, 'huggingface_id', /pickled/],
    ['org/coded', {}, 'huggingface_id', /code of its own/],
    ['org/deep', {}, 'huggingface_id', /not JSON/],
    ['org/climbing', {}, 'huggingface_id', /unsafe name/],
    ['org/boasting', {}, 'huggingface_id', /no GGUF file that can be read/],
    ['org/no-gguf', {}, 'huggingface_id', /no GGUF file that can be read/],
    ['org/half', {}, 'huggingface_id', /lacks a part/],
    ['org/gguf', { quantization: 'Q2_K' }, 'huggingface_id', /has no GGUF file in Q2_K. It has Q8_0, Q4_K_M/],
    ['org/good', { quantization: 'Q4_K_M' }, 'huggingface_id', /no GGUF files/],
    ['org/good', { max_model_len: 200_000 }, 'huggingface_id', /max_model_len is above/],
    ['org/good', { gpu_tier: 'l4_24gb' }, 'gpu_tier', /takes 3\d\.\d GB.*max_model_len of \d+.*l40s_48gb/],
  ])('refuses %s with %j', async (id, order, param, reason) => {
    const { status, body } = await create(id, order)
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', param])
    expect(body.error.message).toMatch(reason)
  })

  test.each(['../../etc/passwd', 'org/na\0me', 'a/b/../c', '.', '..', 'org/', `org/${'n'.repeat(300)}`])(
    'does not call the hub for the unsafe id %j',
    async (id) => {
      const { status } = await create(id)
      const validated = await validate({ huggingface_id: id })
      expect([status, validated.status, hub.requests]).toEqual([400, 400, []])
    },
  )

  test('sends the hub token only to the hub, and does not return or log it', async () => {
    const id = await deploy(gateway, { huggingface_id: 'org/gated', hf_token: 'hf_right' })
    await waitForStatus(gateway, id, 'running')
    const shown = [
      await gateway.request('GET', `/v1/deployments/${id}`),
      await gateway.request('GET', `/v1/deployments/${id}/logs`),
      await readEvents(gateway, id),
    ]
    expect(JSON.stringify(shown)).not.toContain('hf_right')
    const told = hub.requests.filter(({ authorization }) => authorization !== null)
    expect(told.length).toBeGreaterThan(0)
    expect(told.every(({ host }) => hub.url.endsWith(host))).toBe(true)
  })

  test('works without the hub for simulated GPUs, and returns 503 for real engines', async () => {
    const [down, local] = [
      await startGpuGateway(),
      await startTestGateway({
        settings: { PARKWAY_GPU_DRIVER: 'local', PARKWAY_LOCAL_GPU: JSON.stringify(SCRIPTED) },
      }),
    ]
    try {
      expect((await create('org/good', {}, down)).status).toBe(201)
      const refused = await create('org/good', { gpu_tier: 'cpu_local' }, local)
      expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
        503,
        'service_unavailable',
        '10',
      ])
    } finally {
      await down.close()
      await local.close()
    }
  })
})

describe('a GGUF repository', () => {
  test('is validated by the headers of one quantization, with all parts of a split model', async () => {
    const { body } = await validate({ huggingface_id: 'org/gguf' })
    expect(body).toMatchObject({
      valid: true,
      format: 'gguf',
      architecture: 'llama',
      parameters: 2 * 117_184,
      llama_cpp_compatible: true,
      vllm_compatible: false,
      max_context: 2048,
      kv_cache_gb: 0,
      warnings: ['The model names no licence.'],
    })
    const asked = hub.requests.filter(({ host }) => host === hub.cdnHost)
    expect(asked.map(({ path }) => path.split('/').at(-1))).toEqual([
      'tiny-Q4_K_M-00001-of-00002.gguf',
      'tiny-Q4_K_M-00002-of-00002.gguf',
    ])
    expect(asked.every(({ range }) => range?.startsWith('bytes=0-'))).toBe(true)
  })

  test('is previewed and deployed in the requested quantization', async () => {
    const { body } = await gateway.request(
      'GET',
      '/v1/deployments/preview?huggingface_id=org/gguf&gpu_tier=l4_24gb&quantization=Q8_0',
    )
    expect(body).toMatchObject({ compatible: true, fit: 'fits', max_fitting_model_len: 2048 })
    const { status, body: created } = await create('org/gguf', { quantization: 'Q8_0' })
    expect([status, created.revision, created.quantization]).toEqual([201, COMMIT, 'Q8_0'])
  })
})
