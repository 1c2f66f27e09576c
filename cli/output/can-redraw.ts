/** Whether lines of a stream can be drawn again: a terminal that moves its cursor. */
export function canRedraw(stream: NodeJS.WriteStream, term: string | undefined = process.env.TERM): boolean {
  return stream.isTTY && term !== 'dumb'
}

/** The size that terminals have if they tell none, as on a serial line. */
const [USUAL_COLUMNS, USUAL_ROWS] = [80, 24]

/** Returns the size of a terminal now. */
export function sizeOf({ columns, rows }: Pick<NodeJS.WriteStream, 'columns' | 'rows'>) {
  return { columns: columns > 0 ? columns : USUAL_COLUMNS, rows: rows > 0 ? rows : USUAL_ROWS }
}
