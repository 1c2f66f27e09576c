import { createRequire } from 'node:module'

/** OpenAI's encodings: `o200k`, which stands in for every model's own, and `cl100k` of the models before GPT-4o. */
export type TokenEncodingName = 'o200k' | 'cl100k'

export interface TokenEncoding {
  readonly encode: (text: string) => number[]
  readonly countTokens: (text: string) => number
  readonly vocabulary: Vocabulary
}

/** Each token's text, or its bytes where they are no whole characters; nothing where no token has that number. */
type Vocabulary = readonly (string | readonly number[] | undefined)[]

interface Encoder {
  encode(text: string, options: typeof NO_SPECIAL_TOKENS): number[]
  countTokens(text: string, options: typeof NO_SPECIAL_TOKENS): number
  setMergeCacheSize(size: number): void
}

const loaded: Partial<Record<TokenEncodingName, TokenEncoding>> = {}

/** Loads a vocabulary at its first use, which takes up to half a second and 77 MB. */
export function loadTokenEncoding(name: TokenEncodingName = 'o200k'): TokenEncoding {
  return (loaded[name] ??= createTokenEncoding(name))
}

const require = createRequire(import.meta.url)
// The encoder's own default of 100,000 makes each miss walk over the graves of evicted entries.
const MERGE_CACHE_SIZE = 4096
// Text that looks like a control token is only text.
const NO_SPECIAL_TOKENS = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

// The vocabulary is the same object the encoder reads from; nothing is loaded twice.
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
