import { gguf } from '@huggingface/gguf'
import { readModelShape, type ModelShape } from './model-shape.ts'

/** What the beginning of a GGUF file says of its model. */
export interface GgufHeader {
  readonly architecture: string
  readonly parameters: number
  readonly hasChatTemplate: boolean
  /** Null for what is no transformer. */
  readonly shape: ModelShape | null
}

/** The beginning of a file, and how long all of it is. */
export interface GgufBeginning {
  readonly bytes: Uint8Array
  readonly fileBytes: number
}

/** The header goes on after the bytes that are here. */
export class GgufTooShort extends Error {
  override readonly name = 'GgufTooShort'
}

// The library reads by URL only.
const ADDRESS = 'http://model.invalid/model.gguf'
const CHUNK_BYTES = 2_000_000

/** Throws for what is no GGUF file, or claims more than it can hold. */
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
  // The library pads what it has with zeros, which can be read as tensors.
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

/** The facts under the names that they have in a `config.json`. */
function toConfig(facts: Facts, architecture: string, tensors: ReadonlySet<string>): Facts {
  const of = (name: string): unknown => plain(facts[`${architecture}.${name}`])
  const cacheHeads = of('attention.head_count_kv')
  const perLayer = Array.isArray(cacheHeads) ? cacheHeads.filter((heads) => Number(heads) > 0) : null
  const vocabulary = facts['tokenizer.ggml.tokens']
  return {
    // Layers with a window follow the family where the file does not list them.
    model_type: architecture,
    // Layers without heads of their own cache nothing.
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
