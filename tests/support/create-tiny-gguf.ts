interface TinyGguf {
  /** The longest context in tokens. */
  readonly contextLength?: number
  readonly layers?: number
  /** The same seed creates the same weights. */
  readonly seed?: number
  readonly chatTemplate?: string | null
  /** The number of tensors in the header; the real number by default. */
  readonly claimedTensors?: bigint
  /** Marks the file as one part of a split model. Parts count from 1. */
  readonly split?: { readonly number: number; readonly count: number }
}

const CHAT_TEMPLATE =
  "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"

const TYPE = { u16: 2, u32: 4, i32: 5, f32: 6, text: 8, list: 9, u64: 10 } as const
const WIDTH = 64
const HEADS = 4
const CACHE_HEADS = 2
const INNER_WIDTH = 128
const ALIGNMENT = 32
const F32 = 0

/** Creates a Llama model with random weights that llama.cpp can run: half a megabyte, the same bytes each time. */
export function createTinyGguf(options: TinyGguf = {}): Buffer {
  const { layers = 2, seed = 7 } = options
  const vocabulary = listVocabulary()
  const facts = listFacts(options, vocabulary)
  const tensors = listTensors(layers, vocabulary.length)
  const random = createRandom(seed)
  const infos: Buffer[] = []
  const data: Buffer[] = []
  let offset = 0
  for (const { name, sizes } of tensors) {
    infos.push(Buffer.concat([text(name), u32(sizes.length), ...sizes.map(u64), u32(F32), u64(offset)]))
    const numbers = sizes.reduce((product, size) => product * size, 1)
    const values = Buffer.alloc(padded(numbers * 4))
    for (let index = 0; index < numbers; index += 1)
      values.writeFloatLE(name.includes('norm') ? 1 : random() * 0.2, index * 4)
    data.push(values)
    offset += values.length
  }
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(options.claimedTensors ?? tensors.length),
    u64(facts.length),
    ...facts,
    ...infos,
  ])
  return Buffer.concat([head, Buffer.alloc(padded(head.length) - head.length), ...data])
}

interface Token {
  readonly text: string
  readonly type: number
  readonly score: number
}

/** Returns a vocabulary with every byte and some English tokens, so that any text can be encoded and decoded. */
function listVocabulary(): Token[] {
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?{}[]":'
  const pieces = ['▁', ...letters.split(''), '▁the', '▁a', '▁of', '▁and', '▁to']
  const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'))
  return [
    { text: '<unk>', type: 2, score: 0 },
    { text: '<s>', type: 3, score: 0 },
    { text: '</s>', type: 3, score: 0 },
    ...bytes.map((byte) => ({ text: `<0x${byte}>`, type: 6, score: 0 })),
    ...pieces.map((piece, index) => ({ text: piece, type: 1, score: -1 - index / 100 })),
  ]
}

function listFacts(options: TinyGguf, vocabulary: readonly Token[]): Buffer[] {
  const { contextLength = 2_048, layers = 2, chatTemplate = CHAT_TEMPLATE, split } = options
  const count = (name: string, value: number) => fact(name, TYPE.u32, u32(value))
  const list = (name: string, type: number, values: readonly Buffer[]) =>
    fact(name, TYPE.list, Buffer.concat([u32(type), u64(values.length), ...values]))
  return [
    fact('general.architecture', TYPE.text, text('llama')),
    fact('general.name', TYPE.text, text('tiny')),
    count('general.alignment', ALIGNMENT),
    count('llama.context_length', contextLength),
    count('llama.embedding_length', WIDTH),
    count('llama.block_count', layers),
    count('llama.feed_forward_length', INNER_WIDTH),
    count('llama.attention.head_count', HEADS),
    count('llama.attention.head_count_kv', CACHE_HEADS),
    fact('llama.attention.layer_norm_rms_epsilon', TYPE.f32, f32(1e-5)),
    count('llama.rope.dimension_count', WIDTH / HEADS),
    count('llama.vocab_size', vocabulary.length),
    fact('tokenizer.ggml.model', TYPE.text, text('llama')),
    list(
      'tokenizer.ggml.tokens',
      TYPE.text,
      vocabulary.map((token) => text(token.text)),
    ),
    list(
      'tokenizer.ggml.scores',
      TYPE.f32,
      vocabulary.map(({ score }) => f32(score)),
    ),
    list(
      'tokenizer.ggml.token_type',
      TYPE.i32,
      vocabulary.map(({ type }) => u32(type)),
    ),
    count('tokenizer.ggml.bos_token_id', 1),
    count('tokenizer.ggml.eos_token_id', 2),
    count('tokenizer.ggml.unknown_token_id', 0),
    ...(chatTemplate === null ? [] : [fact('tokenizer.chat_template', TYPE.text, text(chatTemplate))]),
    ...(split === undefined
      ? []
      : [fact('split.no', TYPE.u16, u16(split.number - 1)), fact('split.count', TYPE.u16, u16(split.count))]),
  ]
}

interface Tensor {
  readonly name: string
  readonly sizes: readonly number[]
}

function listTensors(layers: number, tokens: number): Tensor[] {
  const cacheWidth = (WIDTH / HEADS) * CACHE_HEADS
  const blocks = Array.from({ length: layers }, (_, layer): Tensor[] =>
    (
      [
        ['attn_norm', [WIDTH]],
        ['attn_q', [WIDTH, WIDTH]],
        ['attn_k', [WIDTH, cacheWidth]],
        ['attn_v', [WIDTH, cacheWidth]],
        ['attn_output', [WIDTH, WIDTH]],
        ['ffn_norm', [WIDTH]],
        ['ffn_gate', [WIDTH, INNER_WIDTH]],
        ['ffn_up', [WIDTH, INNER_WIDTH]],
        ['ffn_down', [INNER_WIDTH, WIDTH]],
      ] as const
    ).map(([name, sizes]) => ({ name: `blk.${layer}.${name}.weight`, sizes })),
  )
  return [
    { name: 'token_embd.weight', sizes: [WIDTH, tokens] },
    { name: 'output_norm.weight', sizes: [WIDTH] },
    { name: 'output.weight', sizes: [WIDTH, tokens] },
    ...blocks.flat(),
  ]
}

/** Returns a linear congruential generator of numbers from -0.5 to 0.5. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x7fffffff - 0.5
  }
}

function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

function fact(name: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([text(name), u32(type), value])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([u64(bytes.length), bytes])
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}
