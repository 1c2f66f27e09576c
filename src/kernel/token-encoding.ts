import { createRequire } from 'node:module'

/** OpenAI's o200k encoding, which stands in for every model's own. */
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

let loaded: TokenEncoding | null = null

/** Loaded at the first use: the vocabulary takes a fifth of a second and 77 MB that a gateway may never need. */
export function loadTokenEncoding(): TokenEncoding {
  loaded ??= createTokenEncoding()
  return loaded
}

const require = createRequire(import.meta.url)
// The encoder's own default of 100,000 makes each miss walk over the graves of evicted entries.
const MERGE_CACHE_SIZE = 4096
// Text that looks like a control token is only text.
const NO_SPECIAL_TOKENS = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

function createTokenEncoding(): TokenEncoding {
  const encoder = require('gpt-tokenizer/encoding/o200k_base') as Encoder
  // The same object the encoder reads from; nothing is loaded twice.
  const { default: vocabulary } = require('gpt-tokenizer/bpeRanks/o200k_base') as { default: Vocabulary }
  encoder.setMergeCacheSize(MERGE_CACHE_SIZE)
  return {
    encode: (text) => encoder.encode(text, NO_SPECIAL_TOKENS),
    countTokens: (text) => encoder.countTokens(text, NO_SPECIAL_TOKENS),
    vocabulary,
  }
}
