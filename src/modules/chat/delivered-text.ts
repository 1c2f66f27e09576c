/** Behind this the rest is taken to have as many tokens a letter as the beginning. */
const KEPT_LENGTH_MAX = 32 * 1024

/** What a client was given, for metering an upstream that reports no usage. An endless stream is not kept whole. */
export class DeliveredText {
  #kept = ''
  #length = 0

  add(text: string): void {
    if (this.#kept.length < KEPT_LENGTH_MAX) this.#kept += text
    this.#length += text.length
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  countTokens(count: (text: string) => number): number {
    if (this.isEmpty) return 0
    return Math.ceil(count(this.#kept) * (this.#length / this.#kept.length))
  }
}
