import { cutToWidth } from './text-width.ts'

/** Lines at the end of a terminal that are drawn again in their place. */
export interface LiveLines {
  show(lines: readonly string[]): void
  /** Removes the lines. */
  clear(): void
}

export function createLiveLines(stream: NodeJS.WriteStream): LiveLines {
  let drawn = 0
  // Up to the first line, and everything below is removed.
  const erase = (): string => (drawn === 0 ? '' : `\u001B[${drawn}A\r\u001B[0J`)
  return {
    show(lines) {
      // A line that wraps or scrolls away could not be found again.
      const shown = lines
        .slice(0, Math.max(1, stream.rows - 1))
        .map((line) => cutToWidth(line, Math.max(1, stream.columns - 1)))
      stream.write(`${erase()}${shown.map((line) => `${line}\n`).join('')}`)
      drawn = shown.length
    },
    clear() {
      stream.write(erase())
      drawn = 0
    },
  }
}
