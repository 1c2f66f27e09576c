/** JSON text for a member's new value, or null to leave the member out. */
export type JsonEdits = ReadonlyMap<string, string | null>

/**
 * Changes members of a JSON object in place: every byte that is not edited is copied as it came, so that a large
 * request costs no second serialisation. The bytes must have passed `JSON.parse`. Answers null when the object names
 * a member twice or writes a name with an escape: readers disagree about those, so the caller must write it anew.
 */
export function editJsonObject(bytes: Buffer, edits: JsonEdits): Buffer | null {
  const members = locateMembers(bytes)
  if (members === null) return null
  const pieces: Buffer[] = []
  let hasMembers = false
  const append = (piece: Buffer) => {
    pieces.push(hasMembers ? COMMA : OPENING_BRACE, piece)
    hasMembers = true
  }
  let runStart = -1
  let runEnd = -1
  const flushRun = () => {
    if (runStart !== -1) append(bytes.subarray(runStart, runEnd))
    runStart = -1
  }
  for (const member of members) {
    const edit = edits.get(member.name)
    if (edit === undefined) {
      if (runStart === -1) runStart = member.keyStart
      runEnd = member.valueEnd
      continue
    }
    flushRun()
    if (edit !== null) append(memberBytes(member.name, edit))
  }
  flushRun()
  const present = new Set(members.map((member) => member.name))
  for (const [name, edit] of edits) {
    if (edit !== null && !present.has(name)) append(memberBytes(name, edit))
  }
  pieces.push(hasMembers ? CLOSING_BRACE : EMPTY_OBJECT)
  return Buffer.concat(pieces)
}

const COMMA = Buffer.from(',')
const OPENING_BRACE = Buffer.from('{')
const CLOSING_BRACE = Buffer.from('}')
const EMPTY_OBJECT = Buffer.from('{}')

function memberBytes(name: string, value: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${value}`)
}

interface Member {
  name: string
  keyStart: number
  valueEnd: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

function locateMembers(bytes: Buffer): Member[] | null {
  const members: Member[] = []
  const names = new Set<string>()
  let position = skipSpace(bytes, 0)
  if (bytes[position] !== 0x7b) return null
  position = skipSpace(bytes, position + 1)
  while (bytes[position] === QUOTE) {
    const keyStart = position
    const keyEnd = skipString(bytes, position)
    const name = bytes.toString('utf8', keyStart + 1, keyEnd - 1)
    if (names.has(name) || name.includes('\\')) return null
    names.add(name)
    position = skipSpace(bytes, keyEnd) + 1
    const valueEnd = skipValue(bytes, skipSpace(bytes, position))
    members.push({ name, keyStart, valueEnd })
    position = skipSpace(bytes, valueEnd)
    if (bytes[position] !== 0x2c) break
    position = skipSpace(bytes, position + 1)
  }
  return members
}

function skipSpace(bytes: Buffer, from: number): number {
  let position = from
  for (;;) {
    const byte = bytes[position]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return position
    position += 1
  }
}

/** From an opening quote to behind its closing one. */
function skipString(bytes: Buffer, from: number): number {
  let position = from + 1
  for (;;) {
    const quote = bytes.indexOf(QUOTE, position)
    if (quote === -1) return bytes.length
    let backslashes = 0
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
    position = quote + 1
  }
}

function skipValue(bytes: Buffer, from: number): number {
  let position = from
  let depth = 0
  while (position < bytes.length) {
    const byte = bytes[position]
    if (byte === QUOTE) {
      position = skipString(bytes, position)
      if (depth === 0) return position
      continue
    }
    if (byte === 0x7b || byte === 0x5b) depth += 1
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return position
      depth -= 1
      if (depth === 0) return position + 1
    } else if (
      depth === 0 &&
      (byte === 0x2c || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)
    ) {
      return position
    }
    position += 1
  }
  return position
}
