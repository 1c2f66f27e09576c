import type { ModelShape } from './model-shape.ts'

/** Weights as they lie on the hub. */
export interface ModelWeights {
  readonly parameters: number
  /** As they are stored. */
  readonly bytes: number
}

export interface GpuMemory {
  /** 0 for the processor. */
  readonly gpuCount: number
  /** Of all its GPUs together, or of the machine. */
  readonly vramGb: number
}

export interface MemoryNeed {
  /** Of all GPUs together. */
  readonly weightBytes: number
  readonly cacheBytes: number
  readonly overheadBytes: number
  readonly totalBytes: number
}

export type Fit = 'fits' | 'tight' | 'no'

const GIGA = 1_000_000_000
/** Keys and values are cached in 16 bits. */
const CACHE_BYTES = 2
/** The driver, the engine's graphs and its libraries, on each GPU. */
const RUNTIME_BYTES_PER_GPU = 900_000_000
/** The engine and its libraries, where there is no GPU. */
const RUNTIME_BYTES_PROCESSOR = 300_000_000
/** Tokens that an engine works on at once while it reads prompts. */
const BATCH_TOKENS = 2_048
const ACTIVATION_BYTES = 2
/** What an engine may take of a GPU: the rest is the driver's and for peaks. */
const USABLE_SHARE = 0.92
/** Beyond this share of it there is hardly room for a second request. */
const COMFORTABLE_SHARE = 0.85

/** Bits a weight with the scales that belong to it. Embeddings and the output layer keep 16 bits where `keepsEnds`. */
const BITS: Readonly<Record<string, { readonly bits: number; readonly keepsEnds: boolean }>> = {
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
}
const WHOLE_BITS = 16

/** Weights in a quantization; as they are stored for `auto` and for what is not known. */
export function weightBytes(shape: ModelShape, weights: ModelWeights, quantization: string): number {
  const known = BITS[quantization]
  if (known === undefined) return weights.bytes
  const ends = known.keepsEnds ? shape.vocabSize * shape.hiddenSize * (shape.isTied ? 1 : 2) : 0
  const kept = Math.min(ends, weights.parameters)
  return ((weights.parameters - kept) * known.bits + kept * WHOLE_BITS) / 8
}

/** The cache of one request of this length on so many GPUs. A head is not cut: GPUs beyond their number have copies. */
export function cacheBytes(shape: ModelShape, tokens: number, gpuCount = 1): number {
  const perToken = shape.cacheNumbersPerHead * CACHE_BYTES * copiedHeads(shape, gpuCount)
  const fullLayers = shape.layers - shape.slidingLayers
  return perToken * (fullLayers * tokens + shape.slidingLayers * Math.min(tokens, shape.slidingWindow))
}

function copiedHeads({ cacheHeads }: ModelShape, gpuCount: number): number {
  const machines = Math.max(1, gpuCount)
  return Math.ceil(cacheHeads / machines) * machines
}

/** What a model takes that answers one request of this length. Mixtures of experts keep all of them in memory. */
export function estimateMemory(
  shape: ModelShape,
  weights: ModelWeights,
  { quantization, tokens, gpuCount }: { quantization: string; tokens: number; gpuCount: number },
): MemoryNeed {
  const weight = weightBytes(shape, weights, quantization)
  const cache = cacheBytes(shape, tokens, gpuCount)
  const activations =
    BATCH_TOKENS * ACTIVATION_BYTES * (4 * shape.hiddenSize + 2 * shape.intermediateSize) +
    // The logits of a batch of answers, in 32 bits.
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

/** What engines may use of a tier. */
export function usableBytes({ vramGb }: GpuMemory): number {
  return vramGb * GIGA * USABLE_SHARE
}

export function fitOf(need: Pick<MemoryNeed, 'totalBytes'>, memory: GpuMemory): Fit {
  const usable = usableBytes(memory)
  if (need.totalBytes > usable) return 'no'
  return need.totalBytes > usable * COMFORTABLE_SHARE ? 'tight' : 'fits'
}

/** The longest context that fits, up to this; 0 where not even the weights do. */
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
