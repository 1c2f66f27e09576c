/** The form before streams were read in runs, kept to be compared with. */
/** Random padding that some vendors add after the text of a chunk. */
const PADDING = 'obfuscation'
const QUOTE = '"'
const BACKSLASH = 0x5c
/** Characters that a JSON string must escape. */
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTER = /[\u0000-\u001f]/
const ABOVE_ASCII = /[\u0080-\u00ff]/

/** A chunk after parsing. */
interface ParsedChunk {
  readonly payload: Buffer
  /** The bytes that were sent to the client. */
  readonly written: Buffer
  /** The member with the added text, and the text. */
  readonly member: string
  readonly text: string
}

/**
 * The bytes that the chunks of one stream have in common. Most chunks differ only in the text they add. One parsed chunk shows
 * how to read the others and what to write, so they need not be parsed.
 */
export class ChunkTemplate {
  /** The bytes before, between and after the strings that differ, as Latin-1. */
  readonly #segments: readonly string[]
  /** The same segments of the output, or null if chunks are forwarded unchanged. */
  readonly #written: readonly Buffer[] | null
  /** The text that the last chunk added. */
  text = ''

  private constructor(segments: readonly string[], written: readonly Buffer[] | null) {
    this.#segments = segments
    this.#written = written
  }

  /** Returns null if it is not certain which bytes differ between chunks. */
  static learn({ payload, written, member, text }: ParsedChunk): ChunkTemplate | null {
    const segments = splitAtStrings(payload.toString('latin1'), member)
    if (segments === null) return null
    const writtenSegments =
      written === payload ? segments : splitAtStrings(written.toString('latin1'), member)
    if (writtenSegments?.length !== segments.length) return null
    const buffers = writtenSegments.map((segment) => Buffer.from(segment, 'latin1'))
    const template = new ChunkTemplate(segments, written === payload ? null : buffers)
    return template.read(payload) !== null && template.text === text ? template : null
  }

  /** Returns the bytes to write, or null if the chunk differs in something else or is invalid. */
  read(payload: Buffer): Buffer | null {
    const bytes = payload.toString('latin1')
    const [before = '', behind = '', afterPadding] = this.#segments
    const start = before.length
    const end = bytes.startsWith(before) ? endOfString(bytes, start) : -1
    if (end === -1 || !bytes.startsWith(behind, end)) return null
    let rest = end + behind.length
    let paddingEnd = rest
    if (afterPadding !== undefined) {
      paddingEnd = endOfString(bytes, rest)
      if (paddingEnd === -1 || !bytes.startsWith(afterPadding, paddingEnd)) return null
      if (readString(payload, bytes, rest, paddingEnd) === null) return null
      rest = paddingEnd + afterPadding.length
    }
    const text = rest === bytes.length ? readString(payload, bytes, start, end) : null
    if (text === null) return null
    this.text = text
    if (this.#written === null) return payload
    return fill(
      this.#written,
      payload.subarray(start, end),
      payload.subarray(end + behind.length, paddingEnd),
    )
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
function readString(payload: Buffer, bytes: string, start: number, end: number): string | null {
  const raw = bytes.slice(start, end)
  if (CONTROL_CHARACTER.test(raw)) return null
  const text = ABOVE_ASCII.test(raw) ? payload.toString('utf8', start, end) : raw
  if (!raw.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return null
  }
}

function fill([before, behind, afterPadding]: readonly Buffer[], text: Buffer, padding: Buffer): Buffer {
  const pieces =
    afterPadding === undefined ? [before, text, behind] : [before, text, behind, padding, afterPadding]
  return Buffer.concat(pieces.filter((piece) => piece !== undefined))
}
