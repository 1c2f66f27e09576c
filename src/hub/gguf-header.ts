import { gguf } from '@huggingface/gguf'
import { readModelShape, type ModelShape } from './model-shape.ts'

/** Facts about a model from the header of its GGUF file. */
export interface GgufHeader {
  readonly architecture: string
  readonly parameters: number
  readonly hasChatTemplate: boolean
  /** Null if the model is not a transformer. */
  readonly shape: ModelShape | null
}

/** The first bytes of a file, and the size of the whole file. */
export interface GgufBeginning {
  readonly bytes: Uint8Array
  readonly fileBytes: number
}

/** The header is longer than the bytes that were read. */
export class GgufTooShort extends Error {
  override readonly name = 'GgufTooShort'
}

// The library needs a URL. It is never requested, because `fetch` is replaced.
const ADDRESS = 'http://model.invalid/model.gguf'
const CHUNK_BYTES = 2_000_000

/** Parses the header. Throws `GgufTooShort` if more bytes are needed, and another error if the file is not valid GGUF. */
export async function readGgufHeader({ bytes, fileBytes }: GgufBeginning): Promise<GgufHeader> {
  let chunks = 0
  const { metadata, tensorInfos, parameterCount, tensorInfoByteRange } = await gguf(ADDRESS, {
    computeParametersCount: true,
    fetch: async () => {
      const from = chunks * CHUNK_BYTES
      chunks += 1
      if (from >= bytes.byteLength && bytes.byteLength < fileBytes) throw new GgufTooShort()
      const part = bytes.subarray(from, from + CHUNK_BYTES)
      const headers = { 'content-range': `bytes ${from}-${from + part.byteLength - 1}/${fileBytes}` }
      return new Response(new Uint8Array(part), { status: 206, headers })
    },
  })
  // The library pads missing bytes with zeros and can parse them as tensors.
  if (tensorInfoByteRange[1] > bytes.byteLength) throw new GgufTooShort()
  const facts: Facts = { ...metadata }
  const architecture = facts['general.architecture']
  if (typeof architecture !== 'string' || architecture.length > 100) throw new Error('no architecture')
  const names = new Set(tensorInfos.map(({ name }) => name))
  return {
    architecture,
    parameters: parameterCount,
    hasChatTemplate: typeof facts['tokenizer.chat_template'] === 'string',
    shape: readModelShape(toConfig(facts, architecture, names)),
  }
}

type Facts = Readonly<Record<string, unknown>>

/** Renames the GGUF metadata to the keys of a `config.json`. */
function toConfig(facts: Facts, architecture: string, tensors: ReadonlySet<string>): Facts {
  const of = (name: string): unknown => plain(facts[`${architecture}.${name}`])
  const cacheHeads = of('attention.head_count_kv')
  const perLayer = Array.isArray(cacheHeads) ? cacheHeads.filter((heads) => Number(heads) > 0) : null
  const vocabulary = facts['tokenizer.ggml.tokens']
  return {
    // Tells which layers have a sliding window if the file does not list them.
    model_type: architecture,
    // Layers without key-value heads cache nothing.
    num_hidden_layers: perLayer === null ? of('block_count') : perLayer.length,
    hidden_size: of('embedding_length'),
    intermediate_size: largest(of('feed_forward_length')),
    num_attention_heads: largest(of('attention.head_count')),
    num_key_value_heads: largest(perLayer ?? cacheHeads),
    head_dim: of('attention.key_length'),
    kv_lora_rank: of('attention.kv_lora_rank'),
    qk_rope_head_dim: of('rope.dimension_count'),
    sliding_window: of('attention.sliding_window'),
    vocab_size: Array.isArray(vocabulary) ? vocabulary.length : of('vocab_size'),
    max_position_embeddings: of('context_length'),
    tie_word_embeddings: !tensors.has('output.weight'),
  }
}

function largest(value: unknown): unknown {
  return Array.isArray(value) ? value.reduce((most, one) => Math.max(most, Number(one)), 0) : value
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}
