import type { Column } from './print-table.ts'
import type { Output } from '../terminal.ts'

/** Prints rows as comma-separated values (RFC 4180) with a line of titles. */
export function printCsv<Row>(output: Output, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  output.copy(`${columns.map(({ title }) => quote(title)).join(',')}\r\n`)
  for (const row of rows) output.copy(`${columns.map(({ of }) => quote(of(row))).join(',')}\r\n`)
}

/** Spreadsheets run cells that begin like a formula, and names and tags are written by people. Numbers stay as they are. */
function quote(cell: string): string {
  const text = /^([=+@\t\r]|-(?!\d))/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
