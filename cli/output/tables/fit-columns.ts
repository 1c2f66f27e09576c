/** How a column gives way on a narrow screen. */
export interface ColumnSize {
  /** The width of its widest cell. */
  readonly width: number
  /** Columns of rank 1 are always shown. Of the others, a higher rank is left out first. */
  readonly rank: number
  /** Whether its cells may be shortened. */
  readonly isText: boolean
}

interface Fit {
  /** The width of each column; 0 for one that is left out. */
  readonly widths: readonly number[]
  readonly isComplete: boolean
}

export const GAP = '  '
/** Follows the titles if columns are left out. */
export const LEFT_OUT = `${GAP}…`
const TEXT_WIDTH_MIN = 8

/** Chooses the columns that a screen shows. Returns null if those of rank 1 do not fit beside each other. */
export function fitColumns(sizes: readonly ColumnSize[], screen: number): Fit | null {
  const widths = sizes.map(({ width }) => width)
  if (lineWidth(widths) <= screen) return { widths, isComplete: true }
  const least = sizes.map(({ width, isText }) => (isText ? Math.min(width, TEXT_WIDTH_MIN) : width))
  const byRank = sizes.map(({ rank }, index) => ({ rank, index })).filter(({ rank }) => rank > 1)
  byRank.sort((one, other) => other.rank - one.rank || other.index - one.index)
  const leftOut = new Set<number>()
  const shownLeast = () => least.map((width, index) => (leftOut.has(index) ? 0 : width))
  const mark = () => (leftOut.size === 0 ? 0 : LEFT_OUT.length)
  for (const { index } of byRank) {
    if (lineWidth(shownLeast()) + mark() <= screen) break
    leftOut.add(index)
  }
  const spare = screen - lineWidth(shownLeast())
  if (spare < 0) return null
  return { widths: widen(shownLeast(), widths, Math.max(0, spare - mark())), isComplete: leftOut.size === 0 }
}

/** Divides the spare width evenly among the shortened columns. */
function widen(least: readonly number[], wanted: readonly number[], spare: number): number[] {
  const widths = [...least]
  const missing = (index: number): number => (wanted[index] ?? 0) - (least[index] ?? 0)
  const shortened = [...least.keys()].filter((index) => (least[index] ?? 0) > 0 && missing(index) > 0)
  shortened.sort((one, other) => missing(one) - missing(other))
  let left = spare
  for (const [position, index] of shortened.entries()) {
    const added = Math.min(missing(index), Math.floor(left / (shortened.length - position)))
    widths[index] = (least[index] ?? 0) + added
    left -= added
  }
  return widths
}

function lineWidth(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0)
  return shown.reduce((sum, width) => sum + width, 0) + GAP.length * Math.max(0, shown.length - 1)
}
