import { applyEdits, modify, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'

/** Thrown for a text that is not JSON, with or without comments. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
}

const BYTE_ORDER_MARK = '\uFEFF'

/** Sets a string in a JSON text and leaves other members and all comments as they are. Objects on the way are made. */
export function setJsonString(text: string, path: readonly string[], value: string): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const json = text.slice(mark.length).trim() === '' ? '{}\n' : text.slice(mark.length)
  let object: Node | null = parseObject(json)
  for (const key of path.slice(0, -1)) {
    object = object && findValue(object, key)
    if (object !== null && object.type !== 'object') throw new NotJson(`"${key}" is not an object`)
  }
  // Finds a name that is there twice.
  if (object !== null) findValue(object, path.at(-1) ?? '')
  const unit = /\n([ \t]+)["/]/.exec(json)?.[1] ?? '  '
  const edits = modify(json, [...path], value, {
    formattingOptions: {
      insertSpaces: !unit.startsWith('\t'),
      tabSize: unit.length,
      eol: json.includes('\r\n') ? '\r\n' : '\n',
    },
    getInsertionIndex: () => 0,
  })
  return mark + applyEdits(json, edits)
}

/** Removes a member from a JSON text and leaves the rest, with its comments, as it is. */
export function removeJsonMember(text: string, path: readonly string[]): string {
  if (!hasJsonMember(text, path)) return text
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const json = text.slice(mark.length)
  return mark + applyEdits(json, modify(json, [...path], undefined, {}))
}

/** Returns the text that a member has, or null. */
export function readJsonString(text: string, path: readonly string[]): string | null {
  const value: unknown = findMember(text, path)?.value
  return typeof value === 'string' ? value : null
}

/** Whether an object in the text has a member. */
export function hasJsonMember(text: string, path: readonly string[]): boolean {
  return findMember(text, path) !== null
}

function findMember(text: string, path: readonly string[]): Node | null {
  const json = text.replace(BYTE_ORDER_MARK, '')
  let node: Node | null = json.trim() === '' ? null : parseObject(json)
  for (const key of path) node = node && findValue(node, key)
  return node
}

function parseObject(json: string): Node {
  const errors: ParseError[] = []
  const root = parse(json, errors)
  const [first] = errors
  if (first !== undefined) throw new NotJson(`${printParseErrorCode(first.error)} at ${first.offset}`)
  if (root?.type !== 'object') throw new NotJson('it is not an object')
  return root
}

function parse(json: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(json, errors, { allowTrailingComma: true })
  } catch {
    // The parser calls itself for each level.
    throw new NotJson('it is nested too deep')
  }
}

/** Throws for a name that an object has twice: readers take the last value, and an edit would change the first. */
function findValue(node: Node, key: string): Node | null {
  if (node.type !== 'object') return null
  const found = node.children?.filter(({ children }) => children?.[0]?.value === key) ?? []
  if (found.length > 1) throw new NotJson(`"${key}" is there twice`)
  return found[0]?.children?.[1] ?? null
}
