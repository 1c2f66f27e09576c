/** Parses CSV (RFC 4180) with a state machine, independently of the gateway's own code. */
function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? ''
    if (isQuoted) {
      if (character !== '"') field += character
      else if (text[index + 1] === '"') {
        field += '"'
        index += 1
      } else isQuoted = false
    } else if (character === '"' && field === '') isQuoted = true
    else if (character === ',') {
      row.push(field)
      field = ''
    } else if (character === '\r' && text[index + 1] === '\n') {
      row.push(field)
      rows.push(row)
      row = []
      field = ''
      index += 1
    } else field += character
  }
  if (field !== '' || row.length > 0) throw new Error('the last line has no end')
  return rows
}

/** Returns the rows below the header, each as an object with the column names as keys. */
export function readTable(text: string): Record<string, string>[] {
  const [names = [], ...rows] = readCsv(text)
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])))
}
