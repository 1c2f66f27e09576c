import { TextTokens } from '../inference/inference.ts'

/** Behind this the rest is taken to have as many tokens a letter as the beginning. */
const KEPT_LENGTH_MAX = 32 * 1024
/** All that is kept of prose; takes some tens of milliseconds of text that no vocabulary knows. */
const WHOLE_TOKENS_MAX = 8_192

/** What was given to a client, for metering an upstream that reports no usage. An endless stream is not kept whole. */
export class DeliveredText {
  #kept = ''
  #length = 0
  #otherTokens = 0

  add(text: string): void {
    if (this.#kept.length < KEPT_LENGTH_MAX) this.#kept += text
    this.#length += text.length
  }

  /** Pictures and sound, which have tokens and no letters. */
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
