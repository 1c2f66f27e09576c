import { countTokens } from '../../kernel/count-tokens.ts'
import type { EstimateProfile } from './estimate-profile.ts'

/**
 * The encoder takes up to two microseconds for a token, so that a prompt of megabytes would stop every other request
 * for seconds. The beginning is counted whole, and of the rest some pieces that lie evenly in it.
 */
const WHOLE_TOKENS_MAX = 4096
const PIECE_LENGTH = 1024
const SAMPLES_MAX = 16
const SAMPLE_LENGTH = 128
/** On top of what lies halfway between the average and the densest sample. */
const SAMPLE_MARGIN = 1.1

/** Counts texts with the family's tokenizer, or with OpenAI's and a margin where the vendor publishes none. */
export class TextTokens {
  readonly #profile: EstimateProfile
  readonly #rest: string[] = []
  #restLength = 0
  #wholeTokens = 0

  constructor(profile: EstimateProfile) {
    this.#profile = profile
  }

  add(text: string): void {
    let start = 0
    while (start < text.length && this.#wholeTokens < WHOLE_TOKENS_MAX) {
      const end = endOfPiece(text, start)
      this.#wholeTokens += weigh(text.slice(start, end), this.#profile)
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
      const density = weigh(sample, this.#profile) / sample.length
      samples += 1
      sum += density
      densest = Math.max(densest, density)
    }
    return this.#restLength * ((sum / samples + densest) / 2) * SAMPLE_MARGIN
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

// Cut at a space, where the encoder would have begun a new token anyway.
function endOfPiece(text: string, start: number): number {
  if (text.length - start <= PIECE_LENGTH) return text.length
  const space = text.lastIndexOf(' ', start + PIECE_LENGTH)
  if (space > start) return space
  const end = start + PIECE_LENGTH
  const isInPair = (text.charCodeAt(end) & 0xfc00) === 0xdc00
  return isInPair ? end + 1 : end
}

function weigh(text: string, { family, encoding }: EstimateProfile): number {
  const bytes = Buffer.byteLength(text)
  const tokens =
    countTokens(text, encoding) * family.tokensPerEncodedToken +
    (bytes - text.length) * family.tokensPerWideByte +
    (family.tokensPerDigit === 0 ? 0 : countDigits(text) * family.tokensPerDigit)
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
