/** Thrown for a text that is not JSON, with or without comments. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
}

interface Member {
  readonly key: string
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
}

interface ObjectSpan {
  readonly start: number
  readonly end: number
  readonly members: readonly Member[]
}

/** Sets a string in a JSON text and leaves the rest, with its comments, as it is. Objects on the way are made. */
export function setJsonString(text: string, path: readonly string[], value: string): string {
  const source = text.trim() === '' ? '{}\n' : text
  let span = readObject(source, skipBlank(source, source.startsWith('\uFEFF') ? 1 : 0))
  if (skipBlank(source, span.end) !== source.length) throw new NotJson('there is text behind the object')
  for (const [depth, key] of path.entries()) {
    // Of several members with one name, readers take the last one.
    const member = span.members.findLast((known) => known.key === key)
    const isLast = depth === path.length - 1
    if (member === undefined) return insert(source, span, { path: path.slice(depth), value, depth })
    if (isLast)
      return source.slice(0, member.valueStart) + JSON.stringify(value) + source.slice(member.valueEnd)
    if (source[member.valueStart] !== '{') throw new NotJson(`"${key}" is not an object`)
    span = readObject(source, member.valueStart)
  }
  return source
}

/** Whether an object in the text has a member. */
export function hasJsonMember(text: string, path: readonly string[]): boolean {
  if (text.trim() === '') return false
  let span = readObject(text, skipBlank(text, text.startsWith('\uFEFF') ? 1 : 0))
  for (const [depth, key] of path.entries()) {
    const member = span.members.findLast((known) => known.key === key)
    if (member === undefined) return false
    if (depth === path.length - 1) return true
    if (text[member.valueStart] !== '{') return false
    span = readObject(text, member.valueStart)
  }
  return false
}

/** Inserts a member at the beginning of an object, where no comma has to be found. */
function insert(
  text: string,
  { start, members, end }: ObjectSpan,
  { path, value, depth }: { path: readonly string[]; value: string; depth: number },
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  const [first] = members
  const before = first === undefined ? '' : text.slice(text.lastIndexOf('\n', first.start) + 1, first.start)
  const isOnOwnLine =
    first === undefined || (before.trim() === '' && text.slice(start, first.start).includes('\n'))
  const indent = first !== undefined && isOnOwnLine ? before : unit.repeat(depth + 1)
  const member = write(path, value, { indent, unit, eol })
  if (first === undefined) {
    const closing = indent.slice(0, Math.max(0, indent.length - unit.length))
    const kept = text.slice(start + 1, end - 1).trimEnd()
    return `${text.slice(0, start + 1)}${kept}${eol}${indent}${member}${eol}${closing}${text.slice(end - 1)}`
  }
  const gap = isOnOwnLine ? eol + indent : ' '
  return `${text.slice(0, start + 1)}${gap}${member},${text.slice(start + 1)}`
}

function write(
  [key = '', ...rest]: readonly string[],
  value: string,
  style: { indent: string; unit: string; eol: string },
): string {
  const name = JSON.stringify(key)
  if (rest.length === 0) return `${name}: ${JSON.stringify(value)}`
  const inner = style.indent + style.unit
  return `${name}: {${style.eol}${inner}${write(rest, value, { ...style, indent: inner })}${style.eol}${style.indent}}`
}

function readObject(text: string, start: number): ObjectSpan {
  if (text[start] !== '{') throw new NotJson('it is not an object')
  const members: Member[] = []
  let at = skipBlank(text, start + 1)
  while (text[at] !== '}') {
    const keyEnd = endOfString(text, at)
    const key: unknown = parse(text.slice(at, keyEnd))
    const colon = skipBlank(text, keyEnd)
    if (typeof key !== 'string' || text[colon] !== ':') throw new NotJson(`a name is expected at ${at}`)
    const valueStart = skipBlank(text, colon + 1)
    const valueEnd = endOfValue(text, valueStart)
    members.push({ key, start: at, valueStart, valueEnd })
    at = skipBlank(text, valueEnd)
    if (text[at] === ',') at = skipBlank(text, at + 1)
    else if (text[at] !== '}') throw new NotJson(`a comma is expected at ${at}`)
  }
  return { start, end: at + 1, members }
}

function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') {
    const end = start + (/^[\w.+-]+/.exec(text.slice(start, start + 40))?.[0].length ?? 0)
    parse(text.slice(start, end))
    return end
  }
  // Brackets are counted, not followed by calls: a file may be nested deeper than the stack.
  let depth = 0
  for (let at = start; at < text.length; at = skipBlank(text, at)) {
    const character = text[at]
    if (character === '"') {
      at = endOfString(text, at)
      continue
    }
    if (character === '{' || character === '[') depth += 1
    if (character === '}' || character === ']') depth -= 1
    at += 1
    if (depth === 0) return at
  }
  throw new NotJson('a bracket is not closed')
}

function endOfString(text: string, start: number): number {
  const match = /^"(?:[^"\\\n]|\\.)*"/.exec(text.slice(start))
  if (match === null) throw new NotJson(`a string is expected at ${start}`)
  return start + match[0].length
}

/** Skips white space and comments. */
function skipBlank(text: string, start: number): number {
  let at = start
  for (;;) {
    while (at < text.length && /\s/.test(text[at] ?? '')) at += 1
    const isLine = text.startsWith('//', at)
    if (!isLine && !text.startsWith('/*', at)) return at
    const end = text.indexOf(isLine ? '\n' : '*/', at + 2)
    if (end === -1 && !isLine) throw new NotJson('a comment is not closed')
    at = end === -1 ? text.length : isLine ? end : end + 2
  }
}

function parse(token: string): unknown {
  try {
    return JSON.parse(token)
  } catch {
    throw new NotJson(`"${token.slice(0, 20)}" is no value`)
  }
}
