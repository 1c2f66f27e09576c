import { isMap, isSeq, parseDocument, stringify, type YAMLMap } from 'yaml'

/** Thrown for a text that is not YAML, or has something else where a list is expected. */
class NotYaml extends Error {
  override readonly name = 'NotYaml'
}

/** Replaces the entry of a list with the same name, or adds it at the end, and leaves the rest of the text as it is. */
export function setListEntry(
  text: string,
  list: string,
  entry: Readonly<Record<string, unknown>> & { readonly name: string },
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem !== undefined) throw new NotYaml(problem.message.split('\n')[0])
  const root = document.contents
  if (root !== null && !isMap(root)) throw new NotYaml('it is not a list of settings')
  const items = root?.get(list, true)
  if (items === undefined || items === null || (isSeq(items) && items.items.length === 0)) {
    if (root?.has(list) === true) throw new NotYaml(`"${list}" is empty: remove the line, or add an entry`)
    const kept = text.trimEnd() === '' ? '' : text.trimEnd() + eol
    return `${kept}${list}:${eol}${write(entry, '  ', eol)}`
  }
  if (!isSeq(items) || items.flow === true)
    throw new NotYaml(`"${list}" is not a list with one line per entry`)
  const maps = items.items.filter((item): item is YAMLMap => isMap(item))
  const same = maps.find((item) => item.get('name') === entry.name)
  const last = same ?? items.items.at(-1)
  const range = (last as YAMLMap | undefined)?.range
  const start = items.range?.[0]
  if (range === undefined || range === null || start === undefined)
    throw new NotYaml(`"${list}" cannot be read`)
  const indent = text.slice(text.lastIndexOf('\n', start) + 1, start)
  if (indent.trim() !== '') throw new NotYaml(`"${list}" is not a list with one line per entry`)
  const written = write(entry, indent, eol)
  if (same === undefined) {
    const end = range[1]
    const head = text.slice(0, end).replace(/[ \t]*\r?\n?$/, '')
    return `${head}${eol}${written}${text.slice(end).replace(/^[ \t]*\r?\n/, '')}`
  }
  // The entry begins with the dash before its map.
  const from = text.lastIndexOf('-', range[0]) - indent.length
  return text.slice(0, from) + written + text.slice(range[1]).replace(/^[ \t]*\r?\n/, '')
}

function write(entry: object, indent: string, eol: string): string {
  const lines = stringify([entry]).trimEnd().split('\n')
  return lines.map((line) => `${indent}${line}${eol}`).join('')
}
