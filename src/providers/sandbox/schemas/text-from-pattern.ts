import type { SeededRandom } from '../../../kernel/seeded-random.ts'
import type { WorkBudget } from '../work-budget.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'

interface PatternOptions {
  readonly lengthMin: number
  readonly lengthMax: number
  readonly budget: WorkBudget
}

const PATTERN_LENGTH_MAX = 4096
const EXTRA_REPEATS = [0, 1, 3, 8, 24, 64]
const ATTEMPTS_PER_STEP = 4

/**
 * Returns a text that the regular expression matches. Null if the expression uses more than literals, classes, groups,
 * alternatives and repeats, or needs more work than the budget allows. The expression is never executed: it is untrusted and
 * could run forever.
 */
export function textFromPattern(
  pattern: string,
  random: SeededRandom,
  options: PatternOptions,
): string | null {
  const { lengthMin, lengthMax, budget } = options
  if (pattern.length > PATTERN_LENGTH_MAX) return null
  budget.stepsLeft -= pattern.length
  const reader: Reader = { source: pattern, position: 0, depth: 0, budget }
  const node = parseAlternatives(reader)
  if (node === null || reader.position < pattern.length) return null
  for (const extraRepeats of EXTRA_REPEATS) {
    for (let attempt = 0; attempt < ATTEMPTS_PER_STEP; attempt += 1) {
      if (budget.stepsLeft <= 0) return null
      const writer: Writer = { random, extraRepeats, budget, charactersLeft: Math.max(lengthMax, 0) + 1 }
      const text = writeNode(node, writer)
      if (budget.stepsLeft <= 0) return null
      if (text.length >= lengthMin && text.length <= lengthMax) return text
    }
  }
  return null
}

type Node =
  | { kind: 'characters'; characters: readonly string[] }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; branches: Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number }

interface Reader {
  readonly source: string
  position: number
  depth: number
  readonly budget: WorkBudget
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
  if (character === '.') return fromCharacters(LETTERS)
  if (character === '(') return parseGroup(reader)
  if (character === '[') return parseClass(reader)
  if (character === '\\') return fromCharacters(readEscape(reader))
  return '*+?{}]'.includes(character) ? null : { kind: 'characters', characters: [character] }
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
const ESCAPES = lookupTable<string>({
  d: DIGITS,
  w: `${LETTERS}${LETTERS.toUpperCase()}${DIGITS}_`,
  s: ' ',
  D: LETTERS,
  W: '-',
  S: LETTERS,
  t: '\t',
  n: '\n',
  r: '\r',
})

/** Returns the characters that an escape matches. Null for an escape that is not a character, such as `\b`, `\1` or `\p`. */
function readEscape(reader: Reader): string | null {
  const name = peek(reader)
  reader.position += 1
  const known = ESCAPES[name]
  if (known !== undefined) return known
  return name === '' || /\w/.test(name) ? null : name
}

/** Maximum number of characters kept of one class, which is enough to pick from. */
const CLASS_CHARACTERS_MAX = 512

function parseClass(reader: Reader): Node | null {
  const isNegated = take(reader, '^')
  const characters = new Set<string>()
  const add = (from: number, to: number): void => {
    // A negated class generates only printable characters, so the others are not needed.
    const first = isNegated ? Math.max(from, FIRST_PRINTABLE) : from
    const last = isNegated ? Math.min(to, LAST_PRINTABLE) : Math.min(to, from + RANGE_MAX - 1)
    for (
      let unit = first;
      unit <= last && characters.size < CLASS_CHARACTERS_MAX && reader.budget.stepsLeft > 0;
      unit += 1
    ) {
      reader.budget.stepsLeft -= 1
      if (!isSurrogate(unit)) characters.add(String.fromCharCode(unit))
    }
  }
  while (peek(reader) !== ']') {
    // The set for `\D` is only a sample, so its complement is unknown.
    if (isNegated && /^\\[DWS]/.test(reader.source.slice(reader.position, reader.position + 2))) return null
    const from = readClassMember(reader)
    if (from === null) return null
    const isRange = peek(reader) === '-' && reader.source[reader.position + 1] !== ']'
    if (!isRange) {
      for (const character of from) characters.add(character)
      continue
    }
    reader.position += 1
    const to = readClassMember(reader)
    if (to === null || from.length !== 1 || to.length !== 1) return null
    add(from.charCodeAt(0), to.charCodeAt(0))
  }
  reader.position += 1
  if (!isNegated) return fromCharacters(characters)
  return fromCharacters(Array.from(PRINTABLE).filter((character) => !characters.has(character)))
}

const FIRST_PRINTABLE = 32
const LAST_PRINTABLE = 126

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function readClassMember(reader: Reader): string | null {
  const character = peek(reader)
  if (character === '') return null
  reader.position += 1
  return character === '\\' ? readEscape(reader) : character
}

const RANGE_MAX = 256

function fromCharacters(characters: Iterable<string> | null): Node | null {
  const list = characters === null ? [] : Array.from(characters)
  return list.length === 0 ? null : { kind: 'characters', characters: list }
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
  /** Maximum number of repeats beyond the required minimum. */
  readonly extraRepeats: number
  /** Nested repeats multiply the work, even if they repeat an empty text. */
  readonly budget: WorkBudget
  /** Writing stops when the text is too long. */
  charactersLeft: number
}

function writeNode(node: Node, writer: Writer): string {
  writer.budget.stepsLeft -= 1
  if (writer.charactersLeft <= 0 || writer.budget.stepsLeft <= 0) return ''
  if (node.kind === 'characters') {
    writer.charactersLeft -= 1
    return node.characters[writer.random.below(node.characters.length)] ?? ''
  }
  if (node.kind === 'sequence') return node.parts.map((part) => writeNode(part, writer)).join('')
  if (node.kind === 'choice')
    return writeNode(node.branches[writer.random.below(node.branches.length)] ?? NOTHING, writer)

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
