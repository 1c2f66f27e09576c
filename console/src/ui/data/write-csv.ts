type Cell = string | number | null | undefined

/** Writes a line with the names of the columns and one for each row. */
export function writeCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
): string {
  return writeCsvLines([columns, ...rows.map((row) => columns.map((column) => row[column]))])
}

/** The same for lines of cells. People have named some of the columns of a chart. */
export function writeCsvLines(lines: readonly (readonly Cell[])[]): string {
  return lines.map((cells) => `${cells.map(writeCell).join(',')}\r\n`).join('')
}

/** Spreadsheets run cells that begin like a formula, and names are written by people. Files of the API escape the same. */
function writeCell(value: Cell): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
