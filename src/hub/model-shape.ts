import { isRecord } from '../kernel/is-record.ts'
import { lookupTable } from '../kernel/lookup-table.ts'

/** The values of a `config.json` that determine how much memory a model needs. */
export interface ModelShape {
  readonly layers: number
  readonly hiddenSize: number
  readonly intermediateSize: number
  readonly vocabSize: number
  /** Whether the output layer shares the weights of the embedding. */
  readonly isTied: boolean
  /** The KV cache of one token in one layer: heads, which can be distributed over GPUs, and numbers per head. */
  readonly cacheHeads: number
  readonly cacheNumbersPerHead: number
  /** Number of layers with sliding-window attention, and the size of the window in tokens. */
  readonly slidingLayers: number
  readonly slidingWindow: number
  /** The longest context that the model supports; null if the config does not contain it. */
  readonly contextMax: number | null
}

/** Returns null for a config that does not describe a transformer. */
export function readModelShape(config: unknown): ModelShape | null {
  const text = textConfigOf(config)
  const layers = countOf(text, 'num_hidden_layers', 'n_layer', 'num_layers')
  const hiddenSize = countOf(text, 'hidden_size', 'n_embd', 'd_model')
  const heads = countOf(text, 'num_attention_heads', 'n_head', 'num_heads')
  if (layers === null || hiddenSize === null || heads === null) return null
  const sliding = readSliding(text, layers)
  return {
    layers,
    hiddenSize,
    intermediateSize: countOf(text, 'intermediate_size', 'n_inner', 'ffn_dim') ?? hiddenSize * 4,
    vocabSize: countOf(text, 'vocab_size') ?? 0,
    isTied:
      text['tie_word_embeddings'] === true || (isRecord(config) && config['tie_word_embeddings'] === true),
    ...readCache(text, hiddenSize, heads),
    ...sliding,
    contextMax: countOf(text, 'max_position_embeddings', 'n_positions', 'max_seq_len', 'seq_length'),
  }
}

type Config = Readonly<Record<string, unknown>>

/** Returns the config of the language model, which multimodal models nest in the main config. */
function textConfigOf(config: unknown): Config {
  if (!isRecord(config)) return {}
  for (const name of ['text_config', 'llm_config', 'language_config']) {
    const inner = config[name]
    if (isRecord(inner) && countOf(inner, 'num_hidden_layers') !== null) return inner
  }
  return config
}

/** More than any model has. Prevents overflow from wrong numbers in a config. */
const COUNT_MAX = 1_000_000_000

function countOf(config: Config, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = config[name]
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= COUNT_MAX)
      return value
  }
  return null
}

/** Latent attention caches one vector for all heads. Other models cache one key and one value per head. */
function readCache(
  config: Config,
  hiddenSize: number,
  heads: number,
): Pick<ModelShape, 'cacheHeads' | 'cacheNumbersPerHead'> {
  const latent = countOf(config, 'kv_lora_rank')
  if (latent !== null)
    return { cacheHeads: 1, cacheNumbersPerHead: latent + (countOf(config, 'qk_rope_head_dim') ?? 0) }
  const headSize = countOf(config, 'head_dim') ?? Math.ceil(hiddenSize / heads)
  const cacheHeads =
    countOf(config, 'num_key_value_heads', 'num_kv_heads') ?? (config['multi_query'] === true ? 1 : heads)
  return { cacheHeads, cacheNumbersPerHead: 2 * headSize }
}

/** By model type: one of this many layers has full attention. Used if the config lists no layers. */
const FULL_EVERY = lookupTable<number>({ gemma2: 2, gemma3_text: 6, gemma3: 6, cohere2: 4 })

function readSliding(config: Config, layers: number): Pick<ModelShape, 'slidingLayers' | 'slidingWindow'> {
  const none = { slidingLayers: 0, slidingWindow: 0 }
  const slidingWindow = countOf(config, 'sliding_window')
  if (slidingWindow === null || config['use_sliding_window'] === false) return none
  const types = config['layer_types']
  if (Array.isArray(types)) {
    const slidingLayers = types.filter((type) => type === 'sliding_attention').length
    return slidingLayers === 0 ? none : { slidingLayers: Math.min(slidingLayers, layers), slidingWindow }
  }
  const { model_type: modelType } = config
  const every =
    countOf(config, 'sliding_window_pattern') ??
    (typeof modelType === 'string' ? FULL_EVERY[modelType] : undefined)
  const fullLayers = every === undefined ? 0 : Math.floor(layers / every)
  return { slidingLayers: layers - fullLayers, slidingWindow }
}
