/** Longer strings are decoded in pieces. */
const PIECE_LENGTH = 256 * 1024
const ESCAPE_LENGTH_MAX = 6
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The content of a string, decoded piece by piece. */
export class LongJsonString {
  readonly #text: string
  readonly #pieces: string[] = []
  #at: number
  /** The next quote, which may be escaped. */
  #quoteAt = -1

  constructor(text: string, start: number) {
    this.#text = text
    this.#at = start
  }

  /** Decodes a piece. Returns the position of the closing quote after the last piece, and null before. */
  readPiece(): number | null {
    const limit = this.#at + PIECE_LENGTH
    if (this.#quoteAt < this.#at) this.#quoteAt = this.#text.indexOf('"', this.#at)
    if (this.#quoteAt === -1) throw unexpected(this.#text, this.#text.length)
    const hasEscape = this.#text.slice(this.#at, limit).includes('\\')
    const isPlain = !hasEscape && this.#quoteAt >= limit
    const end = isPlain ? limit : skipToQuote(this.#text, this.#at, limit)
    const piece: unknown = JSON.parse(`"${this.#text.slice(this.#at, end)}"`)
    this.#pieces.push(String(piece))
    this.#at = end
    return end < limit || this.#text.charCodeAt(end) === QUOTE ? end : null
  }

  join(): string {
    return this.#pieces.join('')
  }
}

/** Returns the position of the quote that ends a string, or null if it is not within a piece. Throws if the text ends before. */
export function findQuote(text: string, start: number): number | null {
  const limit = start + PIECE_LENGTH
  const first = text.indexOf('"', start)
  if (first === -1) throw unexpected(text, text.length)
  if (first >= limit) return null
  if (text.charCodeAt(first - 1) !== BACKSLASH) return first
  const end = skipToQuote(text, start, limit)
  return end < limit ? end : null
}

/** Returns the position of the quote that ends a string, or the first one after the limit that is not within an escape. */
function skipToQuote(text: string, start: number, limit: number): number {
  let at = start
  while (at < limit) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    // The four digits of an escape are ordinary characters, which must stay in its piece.
    if (code === BACKSLASH) at += text[at + 1] === 'u' ? ESCAPE_LENGTH_MAX : 2
    else at += 1
  }
  return at
}

/** The error of a text that is not JSON at this position. */
export function unexpected(text: string, at: number): SyntaxError {
  return new SyntaxError(at < text.length ? `unexpected character at ${at}` : 'unexpected end of the JSON')
}
