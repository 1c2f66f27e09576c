/** The positions in a response of the usual structure. */
export interface EmbeddingScan {
  readonly vectors: number
  readonly isBase64: boolean
  /** The value of `model`; null if absent. */
  readonly model: Span | null
  readonly usage: Span | null
  /** The position of the last closing brace. */
  readonly end: number
}

export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Finds the relevant positions of a response without parsing its thousands of numbers, which would cost more than the rest of the
 * request. Returns null for any other structure, which must be parsed.
 */
export function scanEmbeddings(payload: Buffer): EmbeddingScan | null {
  const scanner = new Scanner(payload)
  const members = scanner.readMembers()
  if (members === null || !scanner.isAtEnd()) return null
  const { isListed, vectors, isBase64, data, model, usage } = scanner
  if (!isListed || vectors === 0) return null
  // The list must not contain words instead of numbers.
  const list = payload.subarray(data.start, data.end)
  if (!isBase64 && NO_NUMBERS.some((word) => list.includes(word))) return null
  return { vectors, isBase64, model, usage, end: members.end - 1 }
}

const NO_NUMBERS = ['null', 'NaN', 'Infinity'].map((word) => Buffer.from(word))

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPENING_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** Reads forward. Every method returns false or null for unexpected input. */
class Scanner {
  readonly #payload: Buffer
  #position = 0
  isListed = false
  vectors = 0
  isBase64 = false
  data: Span = { start: 0, end: 0 }
  model: Span | null = null
  usage: Span | null = null

  constructor(payload: Buffer) {
    this.#payload = payload
  }

  isAtEnd(): boolean {
    this.#skipSpace()
    return this.#position === this.#payload.length
  }

  readMembers(): Span | null {
    return this.#readObject((name) => {
      if (name === 'data') return this.#readList()
      const value = this.#skipValue()
      if (value === null) return false
      if (name === 'object') this.isListed = true
      if (name === 'model') this.model = value
      if (name === 'usage') this.usage = value
      return name !== 'error'
    })
  }

  #readList(): boolean {
    const start = this.#position
    if (!this.#take(OPENING_BRACKET)) return false
    do {
      if (this.#readItem() === null) return false
      this.vectors += 1
    } while (this.#take(COMMA))
    this.data = { start, end: this.#position }
    return this.#take(CLOSING_BRACKET)
  }

  #readItem(): Span | null {
    let members = 0
    const item = this.#readObject((name) => {
      if (name === 'object' || name === 'index' || name === 'embedding') members += 1
      if (name === 'embedding') return this.#readVector()
      const value = this.#skipValue()
      // The vectors must be in the order of the inputs.
      return value !== null && (name !== 'index' || this.#textOf(value) === String(this.vectors))
    })
    return members === 3 ? item : null
  }

  #readVector(): boolean {
    const payload = this.#payload
    this.#skipSpace()
    const isBase64 = payload[this.#position] === QUOTE
    if (this.vectors === 0) this.isBase64 = isBase64
    else if (this.isBase64 !== isBase64) return false
    const start = this.#position
    if (isBase64) return this.#skipString() && this.#position - start > EMPTY_STRING_LENGTH
    if (!this.#take(OPENING_BRACKET)) return false
    this.#skipSpace()
    const first = payload[this.#position] ?? 0
    const end = payload.indexOf(CLOSING_BRACKET, this.#position)
    if (end === -1 || !(first === MINUS || (first >= ZERO && first <= NINE))) return false
    this.#position = end + 1
    return true
  }

  #readObject(readMember: (name: string) => boolean): Span | null {
    this.#skipSpace()
    const start = this.#position
    if (!this.#take(OPENING_BRACE)) return null
    const names: string[] = []
    do {
      this.#skipSpace()
      const nameStart = this.#position
      if (!this.#skipString()) return null
      const name = this.#payload.toString('latin1', nameStart + 1, this.#position - 1)
      // Parsers disagree about duplicate names.
      if (names.includes(name) || names.length === MEMBERS_MAX) return null
      names.push(name)
      if (!this.#take(COLON) || !readMember(name)) return null
    } while (this.#take(COMMA))
    return this.#take(CLOSING_BRACE) ? { start, end: this.#position } : null
  }

  #skipValue(): Span | null {
    this.#skipSpace()
    const start = this.#position
    const first = this.#payload[start]
    if (first === QUOTE) return this.#skipString() ? { start, end: this.#position } : null
    if (first === OPENING_BRACE) return this.#readObject(() => this.#skipValue() !== null)
    if (first === OPENING_BRACKET) return null
    while (isOfWord(this.#payload[this.#position])) this.#position += 1
    return this.#position > start ? { start, end: this.#position } : null
  }

  /** Does not support escapes, which these texts do not need. */
  #skipString(): boolean {
    const payload = this.#payload
    if (payload[this.#position] !== QUOTE) return false
    const end = payload.indexOf(QUOTE, this.#position + 1)
    if (end === -1 || payload[end - 1] === BACKSLASH) return false
    this.#position = end + 1
    return true
  }

  #take(byte: number): boolean {
    this.#skipSpace()
    if (this.#payload[this.#position] !== byte) return false
    this.#position += 1
    return true
  }

  #skipSpace(): void {
    const payload = this.#payload
    while (isSpace(payload[this.#position])) this.#position += 1
  }

  #textOf({ start, end }: Span): string {
    return this.#payload.toString('latin1', start, end)
  }
}

/** A response has four members, an item three. */
const MEMBERS_MAX = 16
const EMPTY_STRING_LENGTH = 2

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** A byte of a number or of `true`, `false` and `null`. */
function isOfWord(byte = 0): boolean {
  return (byte >= ZERO && byte <= NINE) || (byte >= 0x61 && byte <= 0x7a) || WORD_MARKS.includes(byte)
}

const WORD_MARKS: readonly number[] = [MINUS, 0x2b, 0x2e, 0x45]
