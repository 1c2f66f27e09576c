import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { safetensorsFile, startHub, COMMIT, type HubServer } from '../upstreams/hub-server.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { startGpuGateway } from './deploy.ts'

/** The config of Llama 3.1 8B, whose memory is published. */
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
const HALF = { dtype: 'BF16', shape: [4_015_130_624] }
const TOKENIZER = { chat_template: '{{ messages }}' }
const GOOD = {
  info: { cardData: { license: 'llama3.1' } },
  files: {
    'config.json': CONFIG,
    'tokenizer_config.json': TOKENIZER,
    'model.safetensors.index.json': { weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' } },
    'model-1.safetensors': safetensorsFile({ a: HALF }),
    // A header that is longer than the first range request.
    'model-2.safetensors': safetensorsFile({ b: HALF }, { padding: 300_000 }),
  },
}
const one = (files: Record<string, Buffer | object>, info: object = {}) => ({
  info: { ...info },
  files: { 'config.json': CONFIG, 'tokenizer_config.json': TOKENIZER, ...files },
})
const WEIGHTS = safetensorsFile({ a: HALF, b: HALF })

let hub: HubServer
let gateway: TestGateway

beforeAll(async () => {
  hub = await startHub({
    'org/good': GOOD,
    'org/unread': GOOD,
    'org/gated': { ...one({ 'model.safetensors': WEIGHTS }, { gated: 'manual' }), token: 'hf_right' },
    'org/pickled': one({ 'pytorch_model.bin': Buffer.alloc(10) }),
    'org/empty': { files: {} },
    'org/coded': {
      files: {
        'config.json': { ...CONFIG, auto_map: { AutoModel: 'm.Model' } },
        'model.safetensors': WEIGHTS,
      },
    },
    'org/gguf': { files: { 'model-Q4_K_M.gguf': createTinyGguf() } },
    'org/awq': {
      files: {
        'config.json': { ...CONFIG, quantization_config: { quant_method: 'awq', bits: 4 } },
        'model.safetensors': safetensorsFile({
          packed: { dtype: 'I32', shape: [872_415_232] },
          ends: { dtype: 'F16', shape: [1_050_673_152] },
        }),
      },
    },
    'org/short': one({ 'model.safetensors': Buffer.from([1, 2]) }),
    'org/lying': one({ 'model.safetensors': Buffer.from([255, 255, 255, 255, 255, 255, 255, 127, 0]) }),
    'org/elsewhere': one({
      'model.safetensors': WEIGHTS,
      'model.safetensors.index.json': { weight_map: { a: '../../secret' } },
    }),
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

const validate = (body: object) => gateway.request('POST', '/v1/hf/validate', { body })
const preview = (query: string) => gateway.request('GET', `/v1/deployments/preview?${query}`)

describe('validating a model', () => {
  test('reads the headers of the weight files, never the weights', async () => {
    const { status, body } = await validate({ huggingface_id: 'org/unread' })
    expect([status, body]).toEqual([
      200,
      {
        valid: true,
        ghost_test_passed: true,
        model_id: 'org/unread',
        revision: COMMIT,
        architecture: 'LlamaForCausalLM',
        model_type: 'llama',
        parameters: 8_030_261_248,
        format: 'safetensors',
        gated: false,
        license: 'llama3.1',
        vllm_compatible: true,
        llama_cpp_compatible: false,
        vram_fp16_gb: 16.06,
        vram_int8_gb: expect.closeTo(9.3, 0),
        vram_int4_gb: expect.closeTo(5.7, 0),
        kv_cache_gb: 17.18,
        max_context: 131_072,
        recommended_gpu_tier: 'l40s_48gb',
        warnings: [],
        errors: [],
      },
    ])
    const files = hub.requests.filter(({ path }) => path.endsWith('.safetensors'))
    expect(files.map(({ host, range }) => `${host} ${range !== null}`)).toEqual(
      Array(3).fill(`${hub.cdnHost} true`),
    )
    expect(Math.max(...hub.requests.map(({ bytes }) => bytes))).toBeLessThan(400_000)
  })

  test('caches the answer of the hub', async () => {
    await validate({ model_id: 'org/gguf' })
    const before = hub.requests.length
    const { body } = await validate({ model_id: 'org/gguf' })
    expect([hub.requests.length, body.llama_cpp_compatible, body.format]).toEqual([before, true, 'gguf'])
  })

  test.each([
    ['org/pickled', /pickled/],
    ['org/empty', /no weights/],
    ['org/coded', /code of its own/],
    ['org/nowhere', /no such/],
    ['org/gated', /token/],
    ['org/short', /too short/],
    ['org/lying', /too long/],
    ['org/elsewhere', /not there/],
  ])('says why %s cannot be deployed', async (id, reason) => {
    const { status, body } = await validate({ huggingface_id: id })
    expect([status, body.valid]).toEqual([200, false])
    expect(body.errors.join(' ')).toMatch(reason)
  })

  test('reads a gated model with a token, which is sent only to the hub and not stored', async () => {
    const right = await validate({ huggingface_id: 'org/gated', hf_token: 'hf_right' })
    expect([right.body.valid, right.body.gated, right.body.warnings.join(' ')]).toEqual([
      true,
      true,
      expect.stringContaining('gated'),
    ])
    const told = hub.requests.filter(({ authorization }) => authorization !== null)
    expect(told.length).toBeGreaterThan(0)
    expect(told.filter(({ host }) => host === hub.cdnHost)).toEqual([])
    const [wrong, none] = [
      await validate({ huggingface_id: 'org/gated', hf_token: 'hf_wrong' }),
      await validate({ huggingface_id: 'org/gated' }),
    ]
    expect([wrong.body.valid, none.body.valid, none.body.gated]).toEqual([false, false, true])
  })

  test('counts packed weights', async () => {
    const { body } = await validate({ huggingface_id: 'org/awq' })
    expect(body.parameters).toBe(872_415_232 * 8 + 1_050_673_152)
  })

  test('retries if the hub limits requests or fails, and reports the failure if all retries fail', async () => {
    for (const status of [429, 503]) {
      hub.failNext(status, 2)
      const { body } = await validate({ huggingface_id: 'org/good', hf_token: `hf_${status}` })
      expect([status, body.valid]).toEqual([status, true])
    }
    hub.failNext(500, 3)
    const { status, body } = await validate({ huggingface_id: 'org/good', hf_token: 'hf_500' })
    expect([status, body.valid, body.errors]).toEqual([200, false, ['The hub does not answer now.']])
  })

  test('does not follow redirects into a private network', async () => {
    hub.redirectTo('http://127.0.0.1:1')
    const { body } = await validate({ huggingface_id: 'org/good', hf_token: 'hf_private' })
    expect([body.valid, body.errors.length]).toEqual([false, 1])
  })

  test.each([
    [{}],
    [{ huggingface_id: '../../api' }],
    [{ huggingface_id: 'a b' }],
    [{ huggingface_id: 'http://x/y' }],
  ])('refuses %j', async (body) => {
    const { status, body: answer } = await validate(body)
    expect([status, answer.error.param]).toEqual([400, 'huggingface_id'])
    expect(hub.requests).toEqual([])
  })
})

describe('previewing a deployment', () => {
  test('returns whether a model fits on a tier, its longest context, and alternative tiers', async () => {
    const { status, body } = await preview('huggingface_id=org/good&gpu_tier=l4_24gb&max_model_len=131072')
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        huggingface_id: 'org/good',
        gpu_tier: 'l4_24gb',
        compatible: false,
        fit: 'no',
        provider: 'sandbox',
        hourly_cost_usd: 0.8,
        is_cached: false,
      }),
    ])
    expect(body.required_vram_gb).toBeGreaterThan(33)
    expect(body.weights_gb + body.cache_gb + body.overhead_gb).toBeCloseTo(body.required_vram_gb, 1)
    expect(body.max_fitting_model_len).toBeGreaterThan(16_384)
    expect(body.max_fitting_model_len).toBeLessThan(65_536)
    expect(body.alternatives[0]).toBe('l40s_48gb')
    const { body: small } = await preview(
      `huggingface_id=org/good&gpu_tier=l4_24gb&max_model_len=${body.max_fitting_model_len}`,
    )
    expect([small.compatible, small.fit]).toEqual([true, 'tight'])
    const { body: quantized } = await preview(
      'huggingface_id=org/good&gpu_tier=l4_24gb&quantization=awq&max_model_len=8192',
    )
    expect(quantized.fit).toBe('fits')
  })

  test.each([
    ['gpu_tier=l4_24gb', 'huggingface_id'],
    ['huggingface_id=org/good&gpu_tier=abacus', 'gpu_tier'],
    ['huggingface_id=org/nowhere&gpu_tier=l4_24gb', 'huggingface_id'],
    ['huggingface_id=org/good&gpu_tier=l4_24gb&max_model_len=0', 'max_model_len'],
  ])('refuses %s', async (query, param) => {
    const { status, body } = await preview(query)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('returns 503 while the hub does not answer', async () => {
    hub.repositories.set('org/late', GOOD)
    hub.failNext(500, 3)
    const { status, body, headers } = await preview('huggingface_id=org/late&gpu_tier=l4_24gb')
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '10'])
  })

  test('returns not compatible for a model that cannot be deployed', async () => {
    const { body } = await preview('huggingface_id=org/coded&gpu_tier=h100_80gb')
    expect([body.compatible, body.notes]).toEqual([false, expect.stringContaining('code of its own')])
  })
})
