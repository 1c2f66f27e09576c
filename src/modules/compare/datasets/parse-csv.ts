/** The reason and the line of a CSV error. */
export class CsvInvalid extends Error {
  override readonly name = 'CsvInvalid'
}

interface CsvLimits {
  /** Reading stops behind one more. */
  readonly rowsMax?: number
  readonly columnsMax?: number
  /** Empty ones among them. */
  readonly linesMax?: number
}

/** The fields of every line of RFC 4180; lines may end as on any system, and empty ones are left out. */
export function parseCsv(text: string, limits: CsvLimits = {}): string[][] {
  const { rowsMax = Infinity, columnsMax = Infinity, linesMax = Infinity } = limits
  let lines = 0
  const rows: string[][] = []
  let row: string[] = []
  let position = text.startsWith('\uFEFF') ? 1 : 0
  while (position < text.length) {
    const { field, end } = text[position] === '"' ? readQuoted(text, position) : readPlain(text, position)
    row.push(field)
    if (row.length > columnsMax) throw new CsvInvalid(`A line has more than ${columnsMax} columns.`)
    const mark = text[end]
    position = end + (mark === '\r' && text[end + 1] === '\n' ? 2 : 1)
    if (mark === ',') {
      if (position === text.length) row.push('')
      else continue
    }
    lines += 1
    if (lines > linesMax) throw new CsvInvalid(`It has more than ${linesMax} lines.`)
    if (row.length > 1 || row[0] !== '') rows.push(row)
    if (rows.length > rowsMax) return rows
    row = []
  }
  if (row.length > 0) rows.push(row)
  return rows
}

interface ReadField {
  readonly field: string
  /** Of the comma or line end behind it. */
  readonly end: number
}

const PLAIN_END = /[,\r\n]/g

function readPlain(text: string, start: number): ReadField {
  PLAIN_END.lastIndex = start
  const end = PLAIN_END.exec(text)?.index ?? text.length
  return { field: text.slice(start, end), end }
}

const QUOTE = 0x22

function readQuoted(text: string, start: number): ReadField {
  let position = start + 1
  // Skip escaped quotes pair by pair: searching from each quote anew would be quadratic.
  let quote = text.indexOf('"', position)
  let isDoubled = false
  while (quote !== -1 && text.charCodeAt(quote + 1) === QUOTE) {
    isDoubled = true
    position = quote + 2
    quote = text.charCodeAt(position) === QUOTE ? position : text.indexOf('"', position)
  }
  if (quote === -1) throw new CsvInvalid('A quoted field has no end.')
  const next = text[quote + 1]
  if (next !== undefined && next !== ',' && next !== '\r' && next !== '\n')
    throw new CsvInvalid('Text stands behind the end of a quoted field.')
  const field = text.slice(start + 1, quote)
  return { field: isDoubled ? field.replaceAll('""', '"') : field, end: quote + 1 }
}
