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
  output.line(output.style('bold', cut(format(columns.map(({ title }) => title)), output.columns)))
  for (const row of cells) output.line(cut(format(row), output.columns))
}

function cut(text: string, columns: number): string {
  return widthOf(text) <= columns ? text : `${cutToWidth(text, columns - 1)}…`
}
