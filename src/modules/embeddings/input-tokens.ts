import type { TokenEncodingName } from '../../kernel/tokens/token-encoding.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import { countInputs, countTokenIds, textsOf, type TextInput } from '../../wires/text-input.ts'
import {
  countVocabularyTokens,
  OPENAI_VOCABULARY,
  OTHER_VOCABULARY,
  TextTokens,
  type TextVocabulary,
} from '../../kernel/tokens/text-tokens.ts'

/**
 * Returns an upper bound: a tokenizer never produces more tokens than bytes, and the JSON has at least as many bytes as the text.
 */
export function boundInputTokens(model: CatalogModel, input: TextInput, requestBytes: number): number {
  const { vocabulary, tokensPerInput } = tokenizerOf(model)
  const ids = countTokenIds(input)
  const tokens = ids === null ? requestBytes : Math.ceil(ids * vocabulary.tokensPerEncodedToken)
  return tokens + countInputs(input) * tokensPerInput
}

/** Returns a closer estimate than the bytes give. Takes milliseconds. */
export function refineInputTokens(model: CatalogModel, input: TextInput, requestBytes: number): number {
  const bound = boundInputTokens(model, input, requestBytes)
  if (countTokenIds(input) !== null) return bound
  const { vocabulary, encoding, tokensPerInput } = tokenizerOf(model)
  const text = new TextTokens({
    count: (piece) => countVocabularyTokens(piece, vocabulary, encoding),
    wholeTokensMax: REFINED_TOKENS_MAX,
    sampleMargin: SAMPLE_MARGIN,
  })
  for (const each of textsOf(input)) text.add(each)
  return Math.min(text.tokens + countInputs(input) * tokensPerInput, bound)
}

/** Counts the tokens for upstreams that report no usage. */
export function countInputTokens(input: TextInput, count: (text: string) => number): number {
  const ids = countTokenIds(input)
  if (ids !== null) return ids
  const text = new TextTokens({ count, wholeTokensMax: COUNTED_TOKENS_MAX, sampleMargin: 1 })
  for (const each of textsOf(input)) text.add(each)
  return text.tokens
}

/** Returns the encoding of OpenAI's embedding models, which is that of GPT-4. Null for vendors that publish none. */
export function encodingOf({ vendor }: CatalogModel): TokenEncodingName | null {
  return vendor.toLowerCase() === 'openai' ? 'cl100k' : null
}

/** Takes a few milliseconds for normal text. */
const REFINED_TOKENS_MAX = 4096
const SAMPLE_MARGIN = 1.1
/** Exact for thirty kilobytes of prose. Takes tens of milliseconds for text that no vocabulary contains. */
const COUNTED_TOKENS_MAX = 8_192

interface Tokenizer {
  readonly vocabulary: TextVocabulary
  readonly encoding: TokenEncodingName
  /** Markers, and the line that distinguishes a query from a document. */
  readonly tokensPerInput: number
}

const OTHER: Tokenizer = { vocabulary: OTHER_VOCABULARY, encoding: 'o200k', tokensPerInput: 16 }

function tokenizerOf(model: CatalogModel): Tokenizer {
  const encoding = encodingOf(model)
  return encoding === null ? OTHER : { vocabulary: OPENAI_VOCABULARY, encoding, tokensPerInput: 0 }
}
