/** Thrown for a text that cannot be edited without a full parser. */
export class NotToml extends Error {
  override readonly name = 'NotToml'
}

interface Line {
  readonly text: string
  /** The name of the table that the line opens. */
  readonly header: string | null
  /** The name of the key that the line sets. */
  readonly key: string | null
  /** Whether the line belongs to a value that began on an earlier line. */
  readonly isInside: boolean
}

/** Sets a key before the first table and leaves the rest, with its comments, as it is. */
export function setTopLevelString(text: string, key: string, value: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = readLines(text)
  const firstTable = lines.findIndex(({ header }) => header !== null)
  const top = firstTable === -1 ? lines : lines.slice(0, firstTable)
  const at = top.findIndex((line) => line.key === key)
  const written = `${key} = ${quote(value)}`
  const texts = lines.map((line) => line.text)
  if (at === -1) {
    // Behind the keys that are there, so that a comment at the beginning of the file stays there.
    const last = top.findLastIndex((line) => line.key !== null || line.isInside)
    texts.splice(
      last + 1,
      0,
      written,
      ...(last === -1 && texts[0] !== '' && texts[0] !== undefined ? [''] : []),
    )
    return texts.join(eol)
  }
  if (lines[at + 1]?.isInside === true) throw new NotToml(`${key} has a value of several lines`)
  texts[at] = `${written}${commentOf(texts[at] ?? '')}`
  return texts.join(eol)
}

/** Replaces a table, or adds it at the end. */
export function setTable(
  text: string,
  name: string,
  entries: Readonly<Record<string, string | readonly string[]>>,
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = readLines(text)
  const parent = name.slice(0, name.lastIndexOf('.'))
  const child = name.slice(name.lastIndexOf('.') + 1)
  refuseOtherForms(lines, { name, parent, child })
  const body = [`[${name}]`, ...Object.entries(entries).map(([key, value]) => `${key} = ${written(value)}`)]
  const at = lines.findIndex(({ header }) => header === name)
  const texts = lines.map((line) => line.text)
  if (at === -1) {
    const kept = text.trimEnd() === '' ? [] : [...text.trimEnd().split(/\r?\n/), '']
    return [...kept, ...body, ''].join(eol)
  }
  texts.splice(at, lastOfTable(lines, at) - at + 1, ...body)
  return texts.join(eol)
}

/** Removes a table with the blank line before it, and leaves the rest as it is. */
export function removeTable(text: string, name: string): string {
  const lines = readLines(text)
  const at = lines.findIndex(({ header }) => header === name)
  if (at === -1) return text
  const texts = lines.map((line) => line.text)
  const start = texts[at - 1] === '' ? at - 1 : at
  texts.splice(start, lastOfTable(lines, at) - start + 1)
  return texts.join(text.includes('\r\n') ? '\r\n' : '\n')
}

/** Blank lines and comments before the next table belong to it. */
function lastOfTable(lines: readonly Line[], at: number): number {
  const next = lines.findIndex(({ header }, index) => index > at && header !== null)
  const end = next === -1 ? lines.length : next
  return lines.findLastIndex(
    (line, index) => index < end && (line.key !== null || line.isInside || index === at),
  )
}

function written(value: string | readonly string[]): string {
  return typeof value === 'string' ? quote(value) : `[${value.map(quote).join(', ')}]`
}

/** The same table may be written as dotted keys or inline. Adding a header to those would make the file invalid. */
function refuseOtherForms(
  lines: readonly Line[],
  { name, parent, child }: { name: string; parent: string; child: string },
): void {
  let table = ''
  for (const { header, key } of lines) {
    if (header !== null) table = header
    if (key === null) continue
    const full = table === '' ? key : `${table}.${key}`
    const isOther = full === parent || full === name || (table !== name && full.startsWith(`${name}.`))
    if (isOther && !table.startsWith(`${name}.`))
      throw new NotToml(`${parent} has "${child}" in another form than a table`)
  }
}

function readLines(text: string): Line[] {
  let open: '"""' | "'''" | null = null
  let depth = 0
  return text.split(/\r?\n/).map((line) => {
    const isInside = open !== null || depth > 0
    const header = isInside ? null : (/^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1] ?? arrayHeader(line))
    const key =
      isInside || header !== null
        ? null
        : (/^\s*([\w."'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/.exec(line)?.[1] ?? null)
    if (header === null) ({ open, depth } = scan(line, { open, depth }))
    return {
      text: line,
      header: header === null ? null : normalise(header),
      key: key === null ? null : normalise(key),
      isInside,
    }
  })
}

function arrayHeader(line: string): string | null {
  const name = /^\s*\[\[([^[\]]+)\]\]\s*(?:#.*)?$/.exec(line)?.[1]
  return name === undefined ? null : `[${name}]`
}

/** Follows strings of several lines, and brackets of arrays, over the end of a line. */
function scan(line: string, from: { open: '"""' | "'''" | null; depth: number }): typeof from {
  let { open, depth } = from
  for (let at = 0; at < line.length; at += 1) {
    if (open !== null) {
      if (open === '"""' && line[at] === '\\') at += 1
      else if (line.startsWith(open, at)) {
        at += 2
        open = null
      }
      continue
    }
    const triple = (['"""', "'''"] as const).find((mark) => line.startsWith(mark, at))
    if (triple !== undefined) {
      open = triple
      at += 2
    } else if (line[at] === '"' || line[at] === "'") at = endOfString(line, at)
    else if (line[at] === '#') break
    else if (line[at] === '[' || line[at] === '{') depth += 1
    else if (line[at] === ']' || line[at] === '}') depth -= 1
  }
  return { open, depth }
}

function endOfString(line: string, start: number): number {
  const mark = line[start]
  for (let at = start + 1; at < line.length; at += 1) {
    if (mark === '"' && line[at] === '\\') at += 1
    else if (line[at] === mark) return at
  }
  return line.length
}

function commentOf(line: string): string {
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"' || line[at] === "'") at = endOfString(line, at)
    else if (line[at] === '#') return ` ${line.slice(at)}`
  }
  return ''
}

function normalise(name: string): string {
  return name
    .split('.')
    .map((part) => part.trim().replaceAll(/^["']|["']$/g, ''))
    .join('.')
}

/** A basic string of TOML has the escapes of JSON. */
function quote(value: string): string {
  return JSON.stringify(value)
}
