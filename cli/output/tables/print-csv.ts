import { printable } from '../printable.ts'
import type { Column } from './print-table.ts'
import type { Output } from '../terminal.ts'

/** Prints rows as comma-separated values (RFC 4180) with a line of titles. */
export function printCsv<Row>(output: Output, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const clean = (text: string): string => (output.isTerminal ? printable(text) : text)
  output.write(`${columns.map(({ title }) => quote(title)).join(',')}\r\n`)
  for (const row of rows) output.write(`${columns.map(({ of }) => quote(clean(of(row)))).join(',')}\r\n`)
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
