import { formatRelative } from '../format-time.ts'
import { fitColumns, GAP, LEFT_OUT } from './fit-columns.ts'
import { shortenIds } from '../../short-ids/shorten-ids.ts'
import { printableInLine } from '../printable.ts'
import type { Output } from '../terminal.ts'
import { cutToWidth, widthOf } from '../text-width.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  /** Numbers are aligned at their end. */
  readonly isNumber?: boolean
  /**
   * Which columns a narrow screen shows. 1 is always shown: what identifies the row. A higher rank is left out first. By default 1
   * for the first column, and 5 for others.
   */
  readonly rank?: number
  /** Whether cells may be shortened on a narrow screen, because their beginning is enough to recognize them. */
  readonly isText?: boolean
  /** Whether cells are timestamps of the API. A screen shows how long ago they are. */
  readonly isTime?: boolean
  /** Whether cells are ids. A screen shows unique beginnings, which commands take as well. */
  readonly isId?: boolean
}

const USUAL_RANK = 5

/** Prints rows under titles. On a terminal only what fits is shown, the important columns first; in a pipe everything is. */
export function printTable<Row>(output: Output, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const { titles, lines } = formatTable(columns, rows, output.columns)
  for (const title of titles) output.line(output.style('bold', title))
  for (const line of lines) output.line(line)
}

interface FormattedTable {
  readonly titles: readonly string[]
  readonly lines: readonly string[]
}

/** Formats a table for a screen. Columns of rank 1 that do not fit beside each other are written below each other. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  screen: number,
): FormattedTable {
  const titles = columns.map(({ title }) => printableInLine(title))
  const texts = columns.map((column) => showColumn(column, rows, screen))
  const cells = rows.map((_, row) => texts.map((column) => printableInLine(column[row] ?? '')))
  const sizes = columns.map(({ isText = false, rank }, index) => ({
    width: cells.reduce(
      (width, row) => Math.max(width, widthOf(row[index] ?? '')),
      widthOf(titles[index] ?? ''),
    ),
    rank: rank ?? (index === 0 ? 1 : USUAL_RANK),
    isText,
  }))
  const fit = fitColumns(sizes, screen)
  if (fit === null) {
    const stack = (row: readonly string[]): string[] =>
      row
        .filter((_, index) => sizes[index]?.rank === 1)
        .map((cell, position) => cut(position === 0 ? cell : `${GAP}${cell}`, screen))
    return { titles: stack(titles), lines: cells.flatMap(stack) }
  }
  const format = (row: readonly string[]): string => formatLine(row, fit.widths, columns)
  return { titles: [format(titles) + (fit.isComplete ? '' : LEFT_OUT)], lines: cells.map(format) }
}

/** Ids and times are as the API has them in a pipe, and short on a screen. */
function showColumn<Row>(
  { of, isTime = false, isId = false }: Column<Row>,
  rows: readonly Row[],
  screen: number,
): string[] {
  const texts = rows.map(of)
  if (!Number.isFinite(screen)) return texts
  if (isId) return shortenIds(texts)
  const nowMs = Date.now()
  return isTime ? texts.map((text) => formatRelative(text, nowMs)) : texts
}

function formatLine(
  row: readonly string[],
  widths: readonly number[],
  columns: readonly { isNumber?: boolean }[],
): string {
  const shown = [...row.keys()].filter((index) => (widths[index] ?? 0) > 0)
  return shown
    .map((index) => {
      const width = widths[index] ?? 0
      const cell = cut(row[index] ?? '', width)
      const padding = ' '.repeat(Math.max(0, width - widthOf(cell)))
      if (columns[index]?.isNumber === true) return padding + cell
      return index === shown.at(-1) ? cell : cell + padding
    })
    .join(GAP)
}

function cut(text: string, columns: number): string {
  return widthOf(text) <= columns ? text : `${cutToWidth(text, columns - 1)}…`
}
