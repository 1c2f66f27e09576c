import { stripVTControlCharacters } from 'node:util'
import { canRedraw, sizeOf } from './can-redraw.ts'
import { printableStyled } from './printable.ts'
import { cutToWidth, widthOf } from './text-width.ts'

/** Lines at the end of a terminal that are drawn again in their place. */
export interface LiveLines {
  show(lines: readonly string[]): void
  /** Removes the lines. */
  clear(): void
}

export function createLiveLines(stream: NodeJS.WriteStream): LiveLines {
  if (!canRedraw(stream)) return createAddedLines(stream)
  let drawn = 0
  // Up to the first line, and everything below is removed.
  const erase = (): string => (drawn === 0 ? '' : `\u001B[${drawn}A\r\u001B[0J`)
  return {
    show(lines) {
      // A line that wraps or scrolls away could not be found again.
      const { columns, rows } = sizeOf(stream)
      const shown = lines
        .slice(0, Math.max(1, rows - 1))
        .map((line) => fit(printableStyled(line), Math.max(1, columns - 1)))
      stream.write(`${erase()}${shown.map((line) => `${line}\n`).join('')}`)
      drawn = shown.length
    },
    clear() {
      stream.write(erase())
      drawn = 0
    },
  }
}

/** Styles take no column. */
function fit(line: string, columns: number): string {
  return widthOf(stripVTControlCharacters(line)) <= columns ? line : cutToWidth(line, columns)
}

/** For a terminal that cannot move its cursor: the lines that are new or have changed, below each other. */
function createAddedLines(stream: NodeJS.WriteStream): LiveLines {
  let before: readonly string[] = []
  return {
    show(lines) {
      for (const line of lines) if (!before.includes(line)) stream.write(`${printableStyled(line)}\n`)
      before = lines
    },
    clear: () => {},
  }
}
