export type Cell = string | number | null | undefined

/** Writes a line with the names of the columns and one for each row. */
export function writeCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => writeCell(row[column])).join(','))
  return [columns.join(','), ...lines, ''].join('\r\n')
}

/** Spreadsheets run cells that begin like a formula, and names are written by people. */
function writeCell(value: Cell): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
