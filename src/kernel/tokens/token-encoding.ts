import { createRequire } from 'node:module'

/** OpenAI's encodings: `o200k`, which is used as an approximation for all models, and `cl100k` for models before GPT-4o. */
export type TokenEncodingName = 'o200k' | 'cl100k'

export interface TokenEncoding {
  readonly encode: (text: string) => number[]
  readonly countTokens: (text: string) => number
  readonly vocabulary: Vocabulary
}

/** The text of each token, or its bytes if they are not complete characters. Undefined for unused ids. */
type Vocabulary = readonly (string | readonly number[] | undefined)[]

interface Encoder {
  encode(text: string, options: typeof NO_SPECIAL_TOKENS): number[]
  countTokens(text: string, options: typeof NO_SPECIAL_TOKENS): number
  setMergeCacheSize(size: number): void
}

const loaded: Partial<Record<TokenEncodingName, TokenEncoding>> = {}

/** Loads a vocabulary on first use, which takes up to half a second and 77 MB. */
export function loadTokenEncoding(name: TokenEncodingName = 'o200k'): TokenEncoding {
  return (loaded[name] ??= createTokenEncoding(name))
}

const require = createRequire(import.meta.url)
// With the encoder's default of 100,000, each cache miss walks over many deleted entries.
const MERGE_CACHE_SIZE = 4096
// Treat text that looks like a control token as ordinary text.
const NO_SPECIAL_TOKENS = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

// The vocabulary is the object that the encoder uses, so it is not loaded twice.
const PACKAGES: Readonly<Record<TokenEncodingName, () => readonly [unknown, unknown]>> = {
  o200k: () => [require('gpt-tokenizer/encoding/o200k_base'), require('gpt-tokenizer/bpeRanks/o200k_base')],
  cl100k: () => [
    require('gpt-tokenizer/encoding/cl100k_base'),
    require('gpt-tokenizer/bpeRanks/cl100k_base'),
  ],
}

function createTokenEncoding(name: TokenEncodingName): TokenEncoding {
  const [encoder, { default: vocabulary }] = PACKAGES[name]() as [Encoder, { default: Vocabulary }]
  encoder.setMergeCacheSize(MERGE_CACHE_SIZE)
  return {
    encode: (text) => encoder.encode(text, NO_SPECIAL_TOKENS),
    countTokens: (text) => encoder.countTokens(text, NO_SPECIAL_TOKENS),
    vocabulary,
  }
}
