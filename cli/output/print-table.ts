import { printable } from './printable.ts'
import type { Output } from './terminal.ts'
import { cutToWidth, widthOf } from './text-width.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  /** Numbers are aligned at their end. */
  readonly isNumber?: boolean
}

const GAP = '  '

/** Prints rows under titles. On a terminal the last column is cut at its edge; in a pipe nothing is. */
export function printTable<Row>(output: Output, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const [titles = '', ...lines] = formatTable(columns, rows)
  output.line(output.style('bold', cut(titles, output.columns)))
  for (const line of lines) output.line(cut(line, output.columns))
}

/** Returns the line of titles, and a line for each row. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = rows.map((row) => columns.map(({ of }) => printable(of(row)).replaceAll(/\s+/g, ' ')))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => widthOf(row[index] ?? ''))),
  )
  const format = (row: readonly string[]): string =>
    row
      .map((cell, index) => {
        const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell)))
        if (columns[index]?.isNumber === true) return padding + cell
        return index === row.length - 1 ? cell : cell + padding
      })
      .join(GAP)
  return [columns.map(({ title }) => title), ...cells].map(format)
}

function cut(text: string, columns: number): string {
  return widthOf(text) <= columns ? text : `${cutToWidth(text, columns - 1)}…`
}
