import { stripVTControlCharacters } from 'node:util'
import { cutToWidth, widthOf } from '../output/text-width.ts'

const GAP = '  '

/** The rows of `tablerow`, until they are printed with columns of one width. */
export class TemplateTable {
  readonly #columns: number
  #rows: (readonly string[])[] = []

  /** Lines are cut at this many columns of the screen. */
  constructor(columns: number) {
    this.#columns = columns
  }

  /** Takes a row, and prints nothing yet. */
  add(cells: readonly string[]): '' {
    this.#rows.push(cells.map((cell) => cell.replaceAll(/\s+/g, ' ')))
    return ''
  }

  /** Returns the text of the rows so far, and begins a new table. */
  render(): string {
    const rows = this.#rows
    this.#rows = []
    const widths: number[] = []
    for (const row of rows)
      for (const [index, cell] of row.entries())
        widths[index] = Math.max(widths[index] ?? 0, shownWidth(cell))
    return rows.map((row) => `${this.#format(row, widths)}\n`).join('')
  }

  #format(row: readonly string[], widths: readonly number[]): string {
    let left = this.#columns
    const cells: string[] = []
    for (const [index, cell] of row.entries()) {
      if (left < 1) break
      const isLast = index === row.length - 1
      const fitting =
        shownWidth(cell) <= left ? cell : `${cutToWidth(stripVTControlCharacters(cell), left - 1)}…`
      const padding = isLast ? 0 : Math.max(0, (widths[index] ?? 0) - shownWidth(fitting))
      cells.push(fitting + ' '.repeat(padding))
      left -= (widths[index] ?? 0) + GAP.length
    }
    return cells.join(GAP).trimEnd()
  }
}

/** The width without the colours of a cell. */
function shownWidth(cell: string): number {
  return widthOf(stripVTControlCharacters(cell))
}
