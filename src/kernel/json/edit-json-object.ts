/** New values by member name, as JSON text. Null removes the member. */
export type JsonEdits = ReadonlyMap<string, string | null>

/**
 * Changes members of a JSON object in its text. Copies everything else unchanged, which saves serialising a large request again.
 * The text must be valid JSON. Returns null for an object with duplicate names or escaped names, which parsers treat differently,
 * or with very many members. The caller must then serialise it.
 */
export function editJsonObject(text: string, edits: JsonEdits): string | null {
  const names: string[] = []
  let edited = ''
  /** Start of the current run of unchanged members, or -1. */
  let runStart = -1
  let runEnd = -1
  const append = (member: string) => {
    edited += edited === '' ? `{${member}` : `,${member}`
  }
  let position = skipJsonSpace(text, 0)
  if (text.charCodeAt(position) !== OPENING_BRACE) return null
  position = skipJsonSpace(text, position + 1)
  while (text.charCodeAt(position) === QUOTE) {
    const keyStart = position
    const keyEnd = skipJsonString(text, keyStart)
    const name = text.slice(keyStart + 1, keyEnd - 1)
    if (names.includes(name) || name.includes('\\') || names.length === MEMBERS_MAX) return null
    names.push(name)
    const valueEnd = skipJsonValue(text, skipJsonSpace(text, skipJsonSpace(text, keyEnd) + 1))
    const edit = edits.get(name)
    if (edit === undefined) {
      if (runStart === -1) runStart = keyStart
      runEnd = valueEnd
    } else {
      if (runStart !== -1) append(text.slice(runStart, runEnd))
      runStart = -1
      if (edit !== null) append(`"${name}":${edit}`)
    }
    position = skipJsonSpace(text, valueEnd)
    if (text.charCodeAt(position) !== COMMA) break
    position = skipJsonSpace(text, position + 1)
  }
  if (edits.size === 0) return text
  if (runStart !== -1) append(text.slice(runStart, runEnd))
  for (const [name, edit] of edits)
    if (edit !== null && !names.includes(name)) append(`${JSON.stringify(name)}:${edit}`)
  return edited === '' ? '{}' : `${edited}}`
}

/** Small enough that a linear search is faster than a set. A request has about a dozen members. */
const MEMBERS_MAX = 100

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

export function skipJsonSpace(text: string, from: number): number {
  let position = from
  while (isSpace(text.charCodeAt(position))) position += 1
  return position
}

/** More escaped quotes than this in one string are passed one character after the other, which is faster than as many searches. */
const SEARCHES_MAX = 1_000

/** Returns the position after the closing quote of the string that starts at `from`. */
export function skipJsonString(text: string, from: number): number {
  let position = from + 1
  for (let searches = 0; searches < SEARCHES_MAX; searches += 1) {
    const quote = text.indexOf('"', position)
    if (quote === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
    position = quote + 1
  }
  for (let code = text.charCodeAt(position); position < text.length; code = text.charCodeAt(position)) {
    if (code === QUOTE) return position + 1
    position += code === BACKSLASH ? 2 : 1
  }
  return text.length
}

/** Returns the position after the value that starts at `from`. */
export function skipJsonValue(text: string, from: number): number {
  let position = from
  let depth = 0
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === QUOTE) {
      position = skipJsonString(text, position)
      if (depth === 0) return position
      continue
    }
    if (code === OPENING_BRACE || code === OPENING_BRACKET) depth += 1
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      if (depth === 0) return position
      depth -= 1
      if (depth === 0) return position + 1
    } else if (depth === 0 && (code === COMMA || isSpace(code))) return position
    position += 1
  }
  return position
}
