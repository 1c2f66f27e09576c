/** Random padding that some vendors add after the text of a chunk. */
const PADDING = 'obfuscation'
const QUOTE = '"'
const BACKSLASH = 0x5c
/** Characters that a JSON string must escape. */
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTER = /[\u0000-\u001f]/
const ABOVE_ASCII = /[\u0080-\u00ff]/
/** Anything but printable ASCII without a backslash, which needs no decoding. */
const UNUSUAL_CHARACTER = /[^ -[\]-~]/

/** A chunk after parsing. */
export interface ParsedChunk {
  readonly payload: Buffer
  /** The bytes that were sent to the client. */
  readonly written: Buffer
  /** The member with the added text, and the text. */
  readonly member: string
  readonly text: string
}

/** The bytes of one or more payloads, and the same as Latin-1, in which each character is one byte. */
export interface ReadBytes {
  readonly buffer: Buffer
  readonly text: string
}

/**
 * The bytes that the chunks of one stream have in common. Most chunks differ only in the text they add. One parsed chunk shows
 * how to read the others and what to write, so they need not be parsed. Bytes are handled as Latin-1 text, which is cheaper to
 * search, cut and join than buffers.
 */
export class ChunkTemplate {
  /** The bytes before, between and after the strings that differ. */
  readonly #before: string
  readonly #behind: string
  readonly #afterPadding: string | null
  /** The same segments of the output, or null if chunks are forwarded unchanged. */
  readonly #written: readonly string[] | null
  /** The text that the last chunk added. */
  text = ''

  private constructor(segments: readonly string[], written: readonly string[] | null) {
    const [before = '', behind = '', afterPadding = null] = segments
    this.#before = before
    this.#behind = behind
    this.#afterPadding = afterPadding
    this.#written = written
  }

  /** Returns null if it is not certain which bytes differ between chunks. */
  static learn({ payload, written, member, text }: ParsedChunk): ChunkTemplate | null {
    const segments = splitAtStrings(payload.toString('latin1'), member)
    if (segments === null) return null
    const isUnchanged = written === payload
    const writtenSegments = isUnchanged ? null : splitAtStrings(written.toString('latin1'), member)
    if (!isUnchanged && writtenSegments?.length !== segments.length) return null
    const template = new ChunkTemplate(segments, writtenSegments)
    return template.read(payload) !== null && template.text === text ? template : null
  }

  /** Returns the bytes to write, or null if the chunk differs in something else or is invalid. */
  read(payload: Buffer): Buffer | null {
    const text = payload.toString('latin1')
    const written = this.readWithin({ buffer: payload, text }, 0, text.length)
    if (written === null || this.#written === null) return written === null ? null : payload
    return Buffer.from(written, 'latin1')
  }

  /** The same for a chunk within a longer read. Returns the bytes to write as Latin-1. */
  readWithin(bytes: ReadBytes, from: number, until: number): string | null {
    const { text } = bytes
    const start = from + this.#before.length
    // Comparing slices is cheaper than `startsWith`, which compares character by character.
    const end = text.slice(from, start) === this.#before ? endOfString(text, start) : -1
    const paddingStart = end + this.#behind.length
    if (end === -1 || text.slice(end, paddingStart) !== this.#behind) return null
    let paddingEnd = paddingStart
    let rest = paddingStart
    if (this.#afterPadding !== null) {
      paddingEnd = endOfString(text, paddingStart)
      rest = paddingEnd + this.#afterPadding.length
      if (paddingEnd === -1 || text.slice(paddingEnd, rest) !== this.#afterPadding) return null
      if (readString(bytes, paddingStart, paddingEnd) === null) return null
    }
    const added = rest === until ? readString(bytes, start, end) : null
    if (added === null) return null
    this.text = added
    if (this.#written === null) return text.slice(from, until)
    const [before = '', behind = '', afterPadding = ''] = this.#written
    return before + text.slice(start, end) + behind + text.slice(paddingStart, paddingEnd) + afterPadding
  }
}

/** Returns null if the member is not a string, or if the padding is not after it. */
function splitAtStrings(bytes: string, member: string): string[] | null {
  const text = findString(bytes, member)
  if (text === null) return null
  const before = bytes.slice(0, text.start)
  if (!bytes.includes(`"${PADDING}"`)) return [before, bytes.slice(text.end)]
  const padding = findString(bytes, PADDING)
  if (padding === null || padding.start < text.end) return null
  return [before, bytes.slice(text.end, padding.start), bytes.slice(padding.end)]
}

/**
 * Returns the position, without quotes, of the only string member of this name. A quoted name before a colon is always a member.
 */
function findString(bytes: string, member: string): { start: number; end: number } | null {
  const name = `"${member}":`
  const at = bytes.indexOf(name)
  if (at === -1 || bytes.includes(name, at + 1)) return null
  const value = at + name.length
  const start = (bytes.charAt(value) === ' ' ? value + 1 : value) + 1
  const end = bytes.charAt(start - 1) === QUOTE ? endOfString(bytes, start) : -1
  return end === -1 ? null : { start, end }
}

/** Returns the position of the closing quote, or -1. */
function endOfString(bytes: string, start: number): number {
  for (let from = start; ;) {
    const end = bytes.indexOf(QUOTE, from)
    if (end === -1) return -1
    let first = end
    while (first > start && bytes.charCodeAt(first - 1) === BACKSLASH) first -= 1
    if ((end - first) % 2 === 0) return end
    from = end + 1
  }
}

/** Decodes a JSON string. Returns null if it is invalid. */
function readString({ buffer, text }: ReadBytes, start: number, end: number): string | null {
  const raw = text.slice(start, end)
  if (!UNUSUAL_CHARACTER.test(raw)) return raw
  if (CONTROL_CHARACTER.test(raw)) return null
  const decoded = ABOVE_ASCII.test(raw) ? buffer.toString('utf8', start, end) : raw
  if (!raw.includes('\\')) return decoded
  try {
    return JSON.parse(`"${decoded}"`)
  } catch {
    return null
  }
}
