/** Of the lines that run at once: of their bodies, because those take several times as much as objects, and of their answers. */
const BODY_BYTES_MAX = 8 * 1024 * 1024
const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/** How long an answer is assumed to become before there was one. */
const ANSWER_BYTES_FIRST = 64 * 1024
const FIRST_FACTOR = 4
/** With each answer that is shorter, a long one counts less. */
const FORGOTTEN_SHARE = 0.02

/** Bounds the memory of the lines of a batch that run at once. A line that is too long for it runs alone. */
export class LineMemory {
  #lines = 0
  #bodyBytes = 0
  readonly #answerBytesLeast: number
  #answerBytes: number

  /** @param answerBytesUsual how long answers usually are at least. Until one has come, they are assumed to be longer. */
  constructor(answerBytesUsual = 0) {
    this.#answerBytesLeast = answerBytesUsual
    this.#answerBytes = Math.max(ANSWER_BYTES_FIRST, FIRST_FACTOR * answerBytesUsual)
  }

  /** How long the body of the next line may be. Negative: none may begin. */
  get room(): number {
    if (this.#lines === 0) return Infinity
    const fits = (this.#lines + 1) * this.#answerBytes <= ANSWER_BYTES_MAX
    return fits ? BODY_BYTES_MAX - this.#bodyBytes : -1
  }

  begin(bodyBytes: number): void {
    this.#lines += 1
    this.#bodyBytes += bodyBytes
  }

  end(bodyBytes: number): void {
    this.#lines -= 1
    this.#bodyBytes -= bodyBytes
  }

  /** The next answers are assumed to be about as long as the longest of late. */
  noteAnswer(bytes: number): void {
    const forgotten = this.#answerBytes * (1 - FORGOTTEN_SHARE)
    this.#answerBytes = Math.max(bytes, forgotten, this.#answerBytesLeast)
  }
}
