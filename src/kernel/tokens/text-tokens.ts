import { countTokens } from './count-tokens.ts'
import type { TokenEncodingName } from './token-encoding.ts'

/**
 * The encoder takes up to eight microseconds per token, so a prompt of megabytes would block all other requests for seconds. The
 * beginning is counted exactly; of the rest, evenly spaced pieces are sampled.
 */
interface TextTokensOptions {
  readonly count: (text: string) => number
  /** How many tokens are counted exactly. */
  readonly wholeTokensMax: number
  /** Multiplies the sampled part. If it is above 1, the densest sample has as much weight as the average. */
  readonly sampleMargin: number
}

const PIECE_LENGTH = 1024
const SAMPLES_MAX = 32
const SAMPLE_LENGTH = 128

/** Adds up the tokens of many texts in bounded time. */
export class TextTokens {
  readonly #options: TextTokensOptions
  readonly #rest: string[] = []
  #restLength = 0
  #wholeTokens = 0

  constructor(options: TextTokensOptions) {
    this.#options = options
  }

  add(text: string): void {
    let start = 0
    while (start < text.length && this.#wholeTokens < this.#options.wholeTokensMax) {
      const end = endOfPiece(text, start)
      this.#wholeTokens += this.#options.count(text.slice(start, end))
      start = end
    }
    if (start >= text.length) return
    this.#rest.push(text.slice(start))
    this.#restLength += text.length - start
  }

  get tokens(): number {
    return Math.ceil(this.#wholeTokens + this.#restTokens())
  }

  #restTokens(): number {
    if (this.#restLength === 0) return 0
    const stride = Math.max(this.#restLength / SAMPLES_MAX, SAMPLE_LENGTH)
    let samples = 0
    let sum = 0
    let densest = 0
    for (let position = 0; position < this.#restLength; position += stride) {
      const sample = this.#cut(Math.floor(position))
      const density = this.#options.count(sample) / sample.length
      samples += 1
      sum += density
      densest = Math.max(densest, density)
    }
    const average = sum / samples
    const { sampleMargin } = this.#options
    const density = sampleMargin > 1 ? (average + densest) / 2 : average
    return this.#restLength * density * sampleMargin
  }

  #cut(position: number): string {
    let passed = 0
    for (const text of this.#rest) {
      if (position < passed + text.length)
        return text.slice(position - passed, position - passed + SAMPLE_LENGTH)
      passed += text.length
    }
    return ''
  }
}

// Cuts at a space, where the encoder begins a new token anyway.
function endOfPiece(text: string, start: number): number {
  if (text.length - start <= PIECE_LENGTH) return text.length
  // Searches the piece only: in a text without spaces, each search would go back to the beginning.
  const space = text.slice(start, start + PIECE_LENGTH + 1).lastIndexOf(' ')
  if (space > 0) return start + space
  const end = start + PIECE_LENGTH
  const isInPair = (text.charCodeAt(end) & 0xfc00) === 0xdc00
  return isInPair ? end + 1 : end
}

/** How many tokens a vendor makes of text. Every number is an upper bound. */
export interface TextVocabulary {
  /** Tokens per token of OpenAI's encoding. */
  readonly tokensPerEncodedToken: number
  /** Added per byte beyond ASCII, where vocabularies differ most. */
  readonly tokensPerWideByte: number
  /** Added per digit: several vendors make a token of each digit, while OpenAI's encoding takes up to three digits in one. */
  readonly tokensPerDigit: number
}

export const OPENAI_VOCABULARY: TextVocabulary = {
  tokensPerEncodedToken: 1,
  tokensPerWideByte: 0,
  tokensPerDigit: 0,
}

/** For vendors that publish no tokenizer. */
export const OTHER_VOCABULARY: TextVocabulary = {
  tokensPerEncodedToken: 1.5,
  tokensPerWideByte: 0.5,
  tokensPerDigit: 1,
}

/** Counts with OpenAI's tokenizer and adds a margin for other vendors. */
export function countVocabularyTokens(
  text: string,
  vocabulary: TextVocabulary,
  encoding: TokenEncodingName,
): number {
  const bytes = Buffer.byteLength(text)
  const tokens =
    countTokens(text, encoding) * vocabulary.tokensPerEncodedToken +
    (bytes - text.length) * vocabulary.tokensPerWideByte +
    (vocabulary.tokensPerDigit === 0 ? 0 : countDigits(text) * vocabulary.tokensPerDigit)
  return Math.min(tokens, bytes)
}

function countDigits(text: string): number {
  let digits = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit >= 0x30 && unit <= 0x39) digits += 1
  }
  return digits
}
