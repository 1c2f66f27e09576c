/** Deeper than any real document, and far below the depth at which recursive code overflows the stack. */
export const JSON_DEPTH_MAX = 100

/** A `SyntaxError`, so that code that handles invalid JSON handles this too. */
export class JsonTooDeep extends SyntaxError {
  override readonly name = 'JsonTooDeep'
}

/** Parses JSON from outside: from clients, upstreams and files. Throws a `SyntaxError`, also for JSON that is nested too deep. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new JsonTooDeep(`the JSON is nested deeper than ${JSON_DEPTH_MAX} levels`)
  return JSON.parse(text)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** `[` differs from `{`, and `]` from `}`, in this bit only. */
const BRACE_BIT = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

/** Returns whether arrays and objects are nested deeper than the limit. The result for invalid JSON is arbitrary. */
function isTooDeep(text: string): boolean {
  // Fast path: most texts have fewer brackets in total than the limit.
  const brackets = countUpTo(text, '[', JSON_DEPTH_MAX + 1)
  if (brackets + countUpTo(text, '{', JSON_DEPTH_MAX + 1 - brackets) <= JSON_DEPTH_MAX) return false
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      continue
    }
    const kind = code | BRACE_BIT
    if (kind === CLOSING) depth -= 1
    else if (kind === OPENING) {
      depth += 1
      if (depth > JSON_DEPTH_MAX) return true
    }
  }
  return false
}

function countUpTo(text: string, character: string, most: number): number {
  let count = 0
  for (let at = -1; count < most; count += 1) {
    at = text.indexOf(character, at + 1)
    if (at === -1) break
  }
  return count
}

/** Returns the position of the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ;) {
    const end = text.indexOf('"', from)
    if (end === -1) return text.length
    let first = end
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1
    if ((end - first) % 2 === 0) return end
    from = end + 1
  }
}
