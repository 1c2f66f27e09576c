/** What is wrong with a CSV text. */
export class CsvInvalid extends Error {
  override readonly name = 'CsvInvalid'
}

/** Returns the fields of each line (RFC 4180). Quoted fields may contain separators and line ends. Empty lines are left out. */
export function parseCsv(text: string, separator: ',' | '\t' | ';'): string[][] {
  // A quoted field, or everything up to the separator or the line end; then what ends it.
  const field = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}\\r\\n][^${separator}\\r\\n]*)?)(${separator}|\\r\\n|\\n|\\r|$)`,
    'y',
  )
  const rows: string[][] = []
  let row: string[] = []
  field.lastIndex = text.startsWith('\uFEFF') ? 1 : 0
  while (field.lastIndex < text.length) {
    const found = field.exec(text)
    if (found === null) throw new CsvInvalid(`line ${rows.length + 1} has a quotation mark that does not fit`)
    const [, quoted, plain = '', end] = found
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === separator && field.lastIndex < text.length) continue
    if (end === separator) row.push('')
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}
