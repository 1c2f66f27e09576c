import type { SeededRandom } from './seeded-random.ts'

interface LengthRange {
  readonly lengthMin: number
  readonly lengthMax: number
}

const EXTRA_REPEATS = [0, 1, 3, 8, 24, 64]
const ATTEMPTS_PER_STEP = 4
const STEPS_MAX = 100_000

/**
 * A text that a regular expression matches, or null when the expression needs more than literals, classes, groups,
 * alternatives and repeats. The expression is never run: it is a stranger's, and could take forever.
 */
export function textFromPattern(pattern: string, random: SeededRandom, range: LengthRange): string | null {
  const reader: Reader = { source: pattern, position: 0, depth: 0 }
  const node = parseAlternatives(reader)
  if (node === null || reader.position < pattern.length) return null
  for (const extraRepeats of EXTRA_REPEATS) {
    for (let attempt = 0; attempt < ATTEMPTS_PER_STEP; attempt += 1) {
      const budget = { charactersLeft: Math.max(range.lengthMax, 0) + 1, stepsLeft: STEPS_MAX }
      const text = writeNode(node, { random, extraRepeats, budget })
      if (budget.stepsLeft <= 0) return null
      if (text.length >= range.lengthMin && text.length <= range.lengthMax) return text
    }
  }
  return null
}

type Node =
  | { kind: 'characters'; characters: string }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; branches: Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number }

interface Reader {
  readonly source: string
  position: number
  depth: number
}

const DEPTH_MAX = 16
const NOTHING: Node = { kind: 'sequence', parts: [] }

function parseAlternatives(reader: Reader): Node | null {
  const branches: Node[] = []
  do {
    const branch = parseSequence(reader)
    if (branch === null) return null
    branches.push(branch)
  } while (take(reader, '|'))
  return { kind: 'choice', branches }
}

function parseSequence(reader: Reader): Node | null {
  const parts: Node[] = []
  while (reader.position < reader.source.length && !'|)'.includes(peek(reader))) {
    const part = parseAtom(reader)
    if (part === null) return null
    const repeated = parseRepeat(reader, part)
    if (repeated === null) return null
    parts.push(repeated)
  }
  return { kind: 'sequence', parts }
}

function parseAtom(reader: Reader): Node | null {
  const character = String.fromCodePoint(reader.source.codePointAt(reader.position) ?? 0)
  reader.position += character.length
  if (character === '^' || character === '$') return NOTHING
  if (character === '.') return { kind: 'characters', characters: LETTERS }
  if (character === '(') return parseGroup(reader)
  if (character === '[') return parseClass(reader)
  if (character === '\\') return fromCharacters(readEscape(reader))
  return '*+?{}]'.includes(character) ? null : { kind: 'characters', characters: character }
}

function parseGroup(reader: Reader): Node | null {
  reader.depth += 1
  if (reader.depth > DEPTH_MAX) return null
  if (take(reader, '?')) {
    const name = /^(?::|<[A-Za-z_]\w*>)/.exec(reader.source.slice(reader.position, reader.position + 64))?.[0]
    if (name === undefined) return null
    reader.position += name.length
  }
  const inside = parseAlternatives(reader)
  reader.depth -= 1
  return inside !== null && take(reader, ')') ? inside : null
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const PRINTABLE = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index))
const ESCAPES: Partial<Record<string, string>> = {
  d: DIGITS,
  w: `${LETTERS}${LETTERS.toUpperCase()}${DIGITS}_`,
  s: ' ',
  D: LETTERS,
  W: '-',
  S: LETTERS,
  t: '\t',
  n: '\n',
  r: '\r',
}

/** The characters an escape stands for; null for one that is no character, such as `\b`, `\1` or `\p`. */
function readEscape(reader: Reader): string | null {
  const name = peek(reader)
  reader.position += 1
  const known = ESCAPES[name]
  if (known !== undefined) return known
  return name === '' || /\w/.test(name) ? null : name
}

function parseClass(reader: Reader): Node | null {
  const isNegated = take(reader, '^')
  let characters = ''
  while (peek(reader) !== ']') {
    // The few characters that stand for `\D` do not tell what lies outside of it.
    if (isNegated && /^\\[DWS]/.test(reader.source.slice(reader.position, reader.position + 2))) return null
    const from = readClassMember(reader)
    if (from === null) return null
    const isRange = peek(reader) === '-' && reader.source[reader.position + 1] !== ']'
    if (!isRange) {
      characters += from
      continue
    }
    reader.position += 1
    const to = readClassMember(reader)
    if (to === null || from.length !== 1 || to.length !== 1) return null
    characters += listRange(from, to)
  }
  reader.position += 1
  if (!isNegated) return fromCharacters(characters)
  return fromCharacters(
    Array.from(PRINTABLE)
      .filter((character) => !characters.includes(character))
      .join(''),
  )
}

function readClassMember(reader: Reader): string | null {
  const character = peek(reader)
  if (character === '') return null
  reader.position += 1
  return character === '\\' ? readEscape(reader) : character
}

const RANGE_MAX = 256

function listRange(from: string, to: string): string {
  const first = from.charCodeAt(0)
  const length = Math.min(to.charCodeAt(0) - first + 1, RANGE_MAX)
  return String.fromCharCode(...Array.from({ length: Math.max(length, 0) }, (_, index) => first + index))
}

function fromCharacters(characters: string | null): Node | null {
  return characters === null || characters === '' ? null : { kind: 'characters', characters }
}

const REPEATS_MAX = 1000

function parseRepeat(reader: Reader, part: Node): Node | null {
  const [text = '', simple, min = '', comma, max] =
    /^(?:([*+?])|\{(\d{1,5})(,)?(\d{1,5})?\})/.exec(
      reader.source.slice(reader.position, reader.position + 16),
    ) ?? []
  if (text === '') return peek(reader) === '{' ? null : part
  reader.position += text.length
  take(reader, '?')
  if (simple !== undefined) {
    return { kind: 'repeat', part, min: simple === '+' ? 1 : 0, max: simple === '?' ? 1 : REPEATS_MAX }
  }
  const count = Number(min)
  const countMax = comma === undefined ? count : max === undefined ? REPEATS_MAX : Number(max)
  return count > REPEATS_MAX
    ? null
    : { kind: 'repeat', part, min: count, max: Math.min(countMax, REPEATS_MAX) }
}

interface Writer {
  readonly random: SeededRandom
  /** How many more times than it must a repeat may be written. */
  readonly extraRepeats: number
  /** Nested repeats multiply, those of nothing too; writing stops once the text is too long anyway. */
  readonly budget: { charactersLeft: number; stepsLeft: number }
}

function writeNode(node: Node, writer: Writer): string {
  writer.budget.stepsLeft -= 1
  if (writer.budget.charactersLeft <= 0 || writer.budget.stepsLeft <= 0) return ''
  if (node.kind === 'characters') {
    const characters = Array.from(node.characters)
    writer.budget.charactersLeft -= 1
    return characters[writer.random.integerBelow(characters.length)] ?? ''
  }
  if (node.kind === 'sequence') return node.parts.map((part) => writeNode(part, writer)).join('')
  if (node.kind === 'choice')
    return writeNode(node.branches[writer.random.integerBelow(node.branches.length)] ?? NOTHING, writer)

  const count = Math.min(node.max, node.min + writer.extraRepeats)
  let text = ''
  for (let index = 0; index < count && writer.budget.stepsLeft > 0; index += 1)
    text += writeNode(node.part, writer)
  return text
}

function peek(reader: Reader): string {
  return reader.source[reader.position] ?? ''
}

function take(reader: Reader, character: string): boolean {
  if (peek(reader) !== character) return false
  reader.position += 1
  return true
}
