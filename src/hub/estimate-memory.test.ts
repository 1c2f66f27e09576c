import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  cacheBytes,
  estimateMemory,
  fitOf,
  longestFitting,
  usableBytes,
  weightBytes,
} from './estimate-memory.ts'
import { readModelShape, type ModelShape } from './model-shape.ts'
import type { KnownModel } from './testing/known-model.ts'
import { KNOWN_MODELS } from './testing/known-models.ts'

const TOLERANCE = 0.15
const GIGA = 1_000_000_000
const L40S = { gpuCount: 1, vramGb: 48 }
const H100 = { gpuCount: 1, vramGb: 80 }

function shapeOf({ config }: KnownModel): ModelShape {
  const shape = readModelShape(config)
  if (shape === null) throw new Error('no shape')
  return shape
}

function weightsOf({ parameters, storedBytes }: KnownModel) {
  return { parameters, bytes: storedBytes }
}

function known(id: string): { shape: ModelShape; weights: { parameters: number; bytes: number } } {
  const model = KNOWN_MODELS.find((one) => one.id === id)
  if (model === undefined) throw new Error(`no facts of ${id}`)
  return { shape: shapeOf(model), weights: weightsOf(model) }
}

describe.each(KNOWN_MODELS)('the memory of $id is within 15 % of the published figures', (model) => {
  const shape = shapeOf(model)
  const weights = weightsOf(model)

  test.each(Object.entries(model.publishedWeightsGb))('weights in %s: %d GB', (quantization, publishedGb) => {
    const ratio = weightBytes(shape, weights, quantization) / (publishedGb * GIGA)
    expect(Math.abs(ratio - 1)).toBeLessThan(TOLERANCE)
  })

  test.each(Object.entries(model.publishedCacheBytes))(
    'the cache of %s tokens: %d bytes',
    (tokens, published) => {
      const ratio = cacheBytes(shape, Number(tokens)) / published
      expect(Math.abs(ratio - 1)).toBeLessThan(TOLERANCE)
    },
  )
})

/** The known models that consist of equal layers of attention and one gated feed-forward network. */
const DENSE_MODELS = KNOWN_MODELS.filter(
  ({ config }) =>
    'intermediate_size' in config &&
    !['num_local_experts', 'num_experts', 'n_routed_experts', 'vision_config'].some((key) => key in config),
)

test.each(DENSE_MODELS)('the parameters and the size of $id follow from its config', (model) => {
  const { config, parameters, storedBytes } = model
  const { layers, hiddenSize, intermediateSize, vocabSize, isTied, cacheHeads, cacheNumbersPerHead } =
    shapeOf(model)
  const queryNumbers = (Number(config['num_attention_heads']) * cacheNumbersPerHead) / 2
  const attention = hiddenSize * (2 * queryNumbers + cacheHeads * cacheNumbersPerHead)
  const layer = attention + 3 * hiddenSize * intermediateSize
  const expected = layers * layer + vocabSize * hiddenSize * (isTied ? 1 : 2)
  expect(Math.abs(parameters / expected - 1)).toBeLessThan(0.001)
  expect(storedBytes).toBe(parameters * 2)
})

test('the published figures are of at least ten models of different shape', () => {
  expect(DENSE_MODELS.length).toBeGreaterThanOrEqual(10)
  const shapes = KNOWN_MODELS.map(({ config }) => JSON.stringify(readModelShape(config)))
  expect(new Set(shapes).size).toBeGreaterThanOrEqual(15)
})

describe('an estimate', () => {
  test('returns fits, tight or no', () => {
    const { shape, weights } = known('meta-llama/Llama-3.1-8B-Instruct')
    const fitFor = (tokens: number, memory: typeof L40S) =>
      fitOf(
        estimateMemory(shape, weights, { quantization: 'auto', tokens, gpuCount: memory.gpuCount }),
        memory,
      )
    expect(fitFor(8_192, L40S)).toBe('fits')
    expect(fitFor(131_072, L40S)).toBe('fits')
    expect(fitFor(16_384, { gpuCount: 1, vramGb: 24 })).toBe('tight')
    expect(fitFor(131_072, { gpuCount: 1, vramGb: 24 })).toBe('no')
  })

  test('an estimate of a large model fits on several GPUs, but not on one', () => {
    const { shape, weights } = known('meta-llama/Llama-3.1-70B-Instruct')
    const need = (gpuCount: number) =>
      estimateMemory(shape, weights, { quantization: 'bf16', tokens: 8_192, gpuCount })
    expect(fitOf(need(1), H100)).toBe('no')
    expect(fitOf(need(4), { gpuCount: 4, vramGb: 320 })).toBe('fits')
  })

  test('for the processor has the same cache, but no GPU overhead', () => {
    const { shape, weights } = known('Qwen/Qwen3-0.6B')
    const need = (gpuCount: number) =>
      estimateMemory(shape, weights, { quantization: 'auto', tokens: 8_192, gpuCount })
    expect(need(0).cacheBytes).toBe(need(1).cacheBytes)
    expect(need(0).totalBytes).toBeLessThan(need(1).totalBytes)
    expect(fitOf(need(0), { gpuCount: 0, vramGb: 1 })).toBe('no')
    expect(fitOf(need(0), { gpuCount: 0, vramGb: 8 })).toBe('fits')
  })

  test('counts the copies of heads on several GPUs', () => {
    const { shape } = known('Qwen/Qwen2.5-7B-Instruct')
    expect(cacheBytes(shape, 1_000, 4)).toBe(cacheBytes(shape, 1_000, 1))
    expect(cacheBytes(shape, 1_000, 8)).toBe(2 * cacheBytes(shape, 1_000, 1))
    const { shape: latent } = known('deepseek-ai/DeepSeek-V3')
    expect(cacheBytes(latent, 1_000, 8)).toBe(8 * cacheBytes(latent, 1_000, 1))
  })

  test('finds the longest context that fits: one more token does not fit', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KNOWN_MODELS.map(({ id }) => id)),
        fc.constantFrom('auto', 'fp8', 'awq', 'Q4_K_M'),
        fc.integer({ min: 8, max: 2_000 }),
        fc.constantFrom(1, 2, 4, 8),
        (id, quantization, vramGb, gpuCount) => {
          const { shape, weights } = known(id)
          const memory = { gpuCount, vramGb }
          const tokensMax = shape.contextMax ?? 8_192
          const longest = longestFitting(shape, weights, { quantization, tokensMax, memory })
          const total = (tokens: number) =>
            estimateMemory(shape, weights, { quantization, tokens, gpuCount }).totalBytes
          if (longest > 0) expect(total(longest)).toBeLessThanOrEqual(usableBytes(memory))
          if (longest < tokensMax && total(tokensMax) !== total(longest))
            expect(total(longest + 1)).toBeGreaterThan(usableBytes(memory))
        },
      ),
    )
  })
})

describe('a config', () => {
  test.each([
    [null],
    ['text'],
    [{}],
    [{ num_hidden_layers: -1, hidden_size: 1, num_attention_heads: 1 }],
    [{ num_hidden_layers: 1e300 }],
  ])('a config that describes no transformer has no shape: %j', (config) => {
    expect(readModelShape(config)).toBeNull()
  })

  test('with a list of layer types determines the sliding layers', () => {
    const shape = readModelShape({
      num_hidden_layers: 24,
      hidden_size: 2880,
      num_attention_heads: 64,
      num_key_value_heads: 8,
      head_dim: 64,
      sliding_window: 128,
      layer_types: Array.from({ length: 24 }, (_, layer) =>
        layer % 2 === 0 ? 'sliding_attention' : 'full_attention',
      ),
    })
    expect(shape).toMatchObject({ slidingLayers: 12, slidingWindow: 128, cacheNumbersPerHead: 128 })
  })
})
