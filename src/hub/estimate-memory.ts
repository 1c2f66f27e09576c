import type { ModelShape } from './model-shape.ts'
import { lookupTable } from '../kernel/lookup-table.ts'

/** The weights of a model, as stored on the hub. */
export interface ModelWeights {
  readonly parameters: number
  readonly bytes: number
}

export interface GpuMemory {
  /** 0 for a tier that runs on the processor. */
  readonly gpuCount: number
  /** Memory of all GPUs of the tier together, or of the machine if there are none. */
  readonly vramGb: number
}

export interface MemoryNeed {
  /** On all GPUs together. */
  readonly weightBytes: number
  readonly cacheBytes: number
  readonly overheadBytes: number
  readonly totalBytes: number
}

export type Fit = 'fits' | 'tight' | 'no'

const GIGA = 1_000_000_000
/** Keys and values are cached in 16 bits. */
const CACHE_BYTES = 2
/** The driver, the engine's graphs and its libraries, for each GPU. */
const RUNTIME_BYTES_PER_GPU = 900_000_000
/** The engine and its libraries, if there is no GPU. */
const RUNTIME_BYTES_PROCESSOR = 300_000_000
/** Tokens that an engine processes at once during prefill. */
const BATCH_TOKENS = 2_048
const ACTIVATION_BYTES = 2
/** Share of the memory that an engine may use. The rest is for the driver and for peaks. */
const USABLE_SHARE = 0.92
/** Above this share of the usable memory there is hardly room for a second request. */
const COMFORTABLE_SHARE = 0.85

/** Bits per weight, including its scales. With `keepsEnds`, embeddings and the output layer keep 16 bits. */
const BITS = lookupTable<{ readonly bits: number; readonly keepsEnds: boolean }>({
  fp32: { bits: 32, keepsEnds: false },
  fp16: { bits: 16, keepsEnds: false },
  bf16: { bits: 16, keepsEnds: false },
  fp8: { bits: 8.1, keepsEnds: true },
  int8: { bits: 8.25, keepsEnds: true },
  awq: { bits: 4.16, keepsEnds: true },
  gptq: { bits: 4.16, keepsEnds: true },
  Q2_K: { bits: 3.16, keepsEnds: false },
  Q3_K_M: { bits: 3.99, keepsEnds: false },
  Q4_0: { bits: 4.66, keepsEnds: false },
  Q4_K_M: { bits: 4.89, keepsEnds: false },
  Q5_K_M: { bits: 5.7, keepsEnds: false },
  Q6_K: { bits: 6.56, keepsEnds: false },
  Q8_0: { bits: 8.5, keepsEnds: false },
})
const WHOLE_BITS = 16

/** Returns the size of the weights in a quantization; the stored size for `auto` and unknown quantizations. */
export function weightBytes(shape: ModelShape, weights: ModelWeights, quantization: string): number {
  const known = BITS[quantization]
  if (known === undefined) return weights.bytes
  const ends = known.keepsEnds ? shape.vocabSize * shape.hiddenSize * (shape.isTied ? 1 : 2) : 0
  const kept = Math.min(ends, weights.parameters)
  return ((weights.parameters - kept) * known.bits + kept * WHOLE_BITS) / 8
}

/** Returns the KV cache size of one request. Heads are not split: if there are more GPUs than heads, the others hold copies. */
export function cacheBytes(shape: ModelShape, tokens: number, gpuCount = 1): number {
  const perToken = shape.cacheNumbersPerHead * CACHE_BYTES * copiedHeads(shape, gpuCount)
  const fullLayers = shape.layers - shape.slidingLayers
  return perToken * (fullLayers * tokens + shape.slidingLayers * Math.min(tokens, shape.slidingWindow))
}

function copiedHeads({ cacheHeads }: ModelShape, gpuCount: number): number {
  const machines = Math.max(1, gpuCount)
  return Math.ceil(cacheHeads / machines) * machines
}

/** Estimates the memory to answer one request of this length. Mixture-of-experts models keep all experts in memory. */
export function estimateMemory(
  shape: ModelShape,
  weights: ModelWeights,
  { quantization, tokens, gpuCount }: { quantization: string; tokens: number; gpuCount: number },
): MemoryNeed {
  const weight = weightBytes(shape, weights, quantization)
  const cache = cacheBytes(shape, tokens, gpuCount)
  const activations =
    BATCH_TOKENS * ACTIVATION_BYTES * (4 * shape.hiddenSize + 2 * shape.intermediateSize) +
    // The logits for a batch of 256 answers, in 32 bits.
    256 * 4 * shape.vocabSize
  const runtime = gpuCount === 0 ? RUNTIME_BYTES_PROCESSOR : RUNTIME_BYTES_PER_GPU * gpuCount
  const overhead = runtime + activations
  return {
    weightBytes: weight,
    cacheBytes: cache,
    overheadBytes: overhead,
    totalBytes: weight + cache + overhead,
  }
}

/** Returns the memory of a tier that engines may use. */
export function usableBytes({ vramGb }: GpuMemory): number {
  return vramGb * GIGA * USABLE_SHARE
}

export function fitOf(need: Pick<MemoryNeed, 'totalBytes'>, memory: GpuMemory): Fit {
  const usable = usableBytes(memory)
  if (need.totalBytes > usable) return 'no'
  return need.totalBytes > usable * COMFORTABLE_SHARE ? 'tight' : 'fits'
}

/** Returns the longest context that fits, at most `tokensMax`; 0 if not even one token fits. */
export function longestFitting(
  shape: ModelShape,
  weights: ModelWeights,
  { quantization, tokensMax, memory }: { quantization: string; tokensMax: number; memory: GpuMemory },
): number {
  const fits = (tokens: number): boolean =>
    fitOf(estimateMemory(shape, weights, { quantization, tokens, gpuCount: memory.gpuCount }), memory) !==
    'no'
  if (!fits(1)) return 0
  let [low, high] = [1, tokensMax]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}
