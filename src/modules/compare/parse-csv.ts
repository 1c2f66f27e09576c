/** Why a text is no CSV, and where. */
export class CsvInvalid extends Error {
  override readonly name = 'CsvInvalid'
}

interface CsvLimits {
  /** Reading stops behind one more. */
  readonly rowsMax?: number
  readonly columnsMax?: number
}

/** The fields of every line of RFC 4180; lines may end as on any system, and empty ones are left out. */
export function parseCsv(text: string, limits: CsvLimits = {}): string[][] {
  const { rowsMax = Infinity, columnsMax = Infinity } = limits
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

function readQuoted(text: string, start: number): ReadField {
  const pieces: string[] = []
  for (let position = start + 1; ;) {
    const quote = text.indexOf('"', position)
    if (quote === -1) throw new CsvInvalid('A quoted field has no end.')
    pieces.push(text.slice(position, quote))
    const next = text[quote + 1]
    if (next === '"') {
      pieces.push('"')
      position = quote + 2
      continue
    }
    if (next === undefined || next === ',' || next === '\r' || next === '\n')
      return { field: pieces.join(''), end: quote + 1 }
    throw new CsvInvalid('Text stands behind the end of a quoted field.')
  }
}
