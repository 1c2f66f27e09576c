import { setTimeout as pause } from 'node:timers/promises'
import { interruptible } from '../../interruption.ts'
import { createLiveLines } from '../live-lines.ts'
import { formatTable, type Column } from './print-table.ts'
import type { Output } from '../terminal.ts'

interface WatchedTable<Row> {
  readonly columns: readonly Column<Row>[]
  readonly read: () => Promise<readonly Row[]>
  /** What to say while there are no rows. */
  readonly empty: string
}

const LOOK_MS = 1_000

/** Shows a table that follows its rows until Ctrl-C. Without a terminal, a line for each row that is new or has changed. */
export async function watchTable<Row>(
  output: Output,
  { columns, read, empty }: WatchedTable<Row>,
): Promise<void> {
  const live = output.isTerminal ? createLiveLines(process.stdout) : null
  let before: readonly string[] = []
  await interruptible(async (signal) => {
    while (!signal.aborted) {
      const rows = await read()
      // Lines that are drawn again leave the last column free.
      const { titles, lines } = formatTable(columns, rows, Math.max(1, output.columns - 1))
      const bold = titles.map((title) => output.style('bold', title))
      if (live !== null) live.show(rows.length === 0 ? [empty] : [...bold, ...lines])
      else for (const line of lines) if (!before.includes(line)) output.line(line)
      before = lines
      // The end of the watch is its purpose, not a failure.
      await pause(LOOK_MS, undefined, { signal }).catch(() => {})
    }
  })
}
