/** Deeper than any real document, and far below the depth at which recursive code overflows the stack. */
export const JSON_DEPTH_MAX = 100
/** Members of one object. An object with more is slow to build, to copy and to list. */
export const JSON_MEMBERS_MAX = 10_000
/** Items of all arrays. An answer of 2,048 vectors of 3,072 numbers has fewer. */
export const JSON_ITEMS_MAX = 8_000_000

/**
 * A document may have this many parts (objects, arrays and members), however short it is, and then one for so many characters.
 * Real documents have fewer. A part takes up to 80 bytes of memory, and about a microsecond in every step of a request.
 */
const PARTS_FREE = 16_384
const LENGTH_PER_PART = 8

/** A shorter text cannot exceed any limit but that of the depth by so much that it matters. */
const UNCOUNTED_LENGTH_MAX = 32 * 1024

export type JsonLimit = 'depth' | 'members' | 'values' | 'run'

/** Spaces between two values, or characters of a number. */
export const JSON_RUN_LENGTH_MAX = 64 * 1024

const MESSAGES: Readonly<Record<JsonLimit, string>> = {
  depth: `is nested deeper than ${JSON_DEPTH_MAX} levels`,
  members: `has an object of more than ${JSON_MEMBERS_MAX} members`,
  run: `has a number or a row of spaces of more than ${JSON_RUN_LENGTH_MAX} characters`,
  values: 'has too many objects, arrays or values for its size',
}

/** A `SyntaxError`, so that code that handles invalid JSON handles this too. */
export class JsonExcess extends SyntaxError {
  override readonly name = 'JsonExcess'
  readonly limit: JsonLimit
  /** The rest of a sentence whose subject is the document. */
  readonly predicate: string

  constructor(limit: JsonLimit) {
    super(`the JSON ${MESSAGES[limit]}`)
    this.limit = limit
    this.predicate = MESSAGES[limit]
  }
}

export function partsMaxOf(length: number): number {
  return PARTS_FREE + length / LENGTH_PER_PART
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
/** `[` differs from `{`, and `]` from `}`, in this bit only. */
const BRACE_BIT = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

/** Returns the first limit that a text exceeds. The result for invalid JSON is arbitrary. */
export function findExcess(text: string): JsonLimit | null {
  const isShort = text.length <= UNCOUNTED_LENGTH_MAX
  // Fast path: most texts have fewer brackets in total than the depth limit.
  if (isShort && hasFewBrackets(text)) return null
  const partsMax = isShort ? Number.POSITIVE_INFINITY : partsMaxOf(text.length)
  /** Members of the objects around the position, by depth. */
  const members = new Int32Array(JSON_DEPTH_MAX + 1)
  let depth = 0
  let parts = 0
  let items = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === COMMA) {
      items += 1
      if (items > JSON_ITEMS_MAX) return 'values'
    } else if (code === COLON) {
      parts += 1
      const count = (members[depth] ?? 0) + 1
      if (count > JSON_MEMBERS_MAX) return 'members'
      members[depth] = count
    } else {
      const kind = code | BRACE_BIT
      if (kind === CLOSING) depth -= 1
      else if (kind === OPENING) {
        depth += 1
        if (depth > JSON_DEPTH_MAX) return 'depth'
        members[depth] = 0
        parts += 1
        if (parts > partsMax) return 'values'
      }
    }
  }
  return parts > partsMax ? 'values' : null
}

function hasFewBrackets(text: string): boolean {
  const brackets = countUpTo(text, '[', JSON_DEPTH_MAX + 1)
  return brackets + countUpTo(text, '{', JSON_DEPTH_MAX + 1 - brackets) <= JSON_DEPTH_MAX
}

function countUpTo(text: string, character: string, most: number): number {
  let count = 0
  for (let at = -1; count < most; count += 1) {
    at = text.indexOf(character, at + 1)
    if (at === -1) break
  }
  return count
}

/** Returns the position of the closing quote of the string that starts at `start`, or the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  if (end === -1) return text.length
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end
  // A search for each of many escaped quotes would be slower than reading on.
  let at = start + 1
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1
  return Math.min(at, text.length)
}
