import { TextTokens } from '../../../kernel/tokens/text-tokens.ts'

/** Text after this length is assumed to have as many tokens per character as the text before it. */
const KEPT_LENGTH_MAX = 32 * 1024
/** Covers all kept text if it is prose. Takes some tens of milliseconds for text that is not in the vocabulary. */
const WHOLE_TOKENS_MAX = 8_192

/** The text sent to a client, for metering an upstream that reports no usage. Keeps only the beginning of a long stream. */
export class DeliveredText {
  #kept = ''
  #length = 0
  #otherTokens = 0

  add(text: string): void {
    if (this.#kept.length < KEPT_LENGTH_MAX) this.#kept += text
    this.#length += text.length
  }

  /** Adds images and audio, which have tokens but no characters. */
  addTokens(tokens: number): void {
    this.#otherTokens += tokens
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#otherTokens === 0
  }

  countTokens(count: (text: string) => number): number {
    if (this.#length === 0) return Math.ceil(this.#otherTokens)
    const text = new TextTokens({ count, wholeTokensMax: WHOLE_TOKENS_MAX, sampleMargin: 1 })
    text.add(this.#kept)
    return Math.ceil(text.tokens * (this.#length / this.#kept.length) + this.#otherTokens)
  }
}
