import type { Schemas } from '../api/gateway-client.ts'
import { formatUsd } from '../output/format-usd.ts'
import { createLiveLines } from '../output/live-lines.ts'
import { printable, printableInLine } from '../output/printable.ts'
import { cutToWidth, widthOf } from '../output/text-width.ts'

type Run = Schemas['CompareRun']

/** Shows the lanes of a run while it is running. */
interface RunGrid {
  /** @param texts what lanes are writing, by their ids */
  show(run: Run, texts: ReadonlyMap<string, string>): void
  /** Removes the grid: the result is printed below. */
  end(): void
}

const BAR_WIDTH = 20
const NAME_WIDTH_MAX = 32
/** With fewer columns than this beside the figures, no text is shown. */
const TEXT_WIDTH_MIN = 16
/** Two blanks, the mark of a cut, and the last column, which stays empty. */
const TEXT_MARGIN = 4
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Without a terminal, one line for each tenth. */
const STEP_PERCENT = 10

/** A line for each lane on a terminal, drawn again in its place; plain lines without one. */
export function createRunGrid(stream: NodeJS.WriteStream): RunGrid {
  return stream.isTTY ? createLiveGrid(stream) : createPlainLines(stream)
}

function createLiveGrid(stream: NodeJS.WriteStream): RunGrid {
  const lines = createLiveLines(stream)
  let shown = ''
  return {
    show(run, texts) {
      const described = describeLanes(run, texts, stream.columns)
      const key = [stream.columns, stream.rows, ...described].join('\n')
      // Drawn only after a change, because some terminals flicker.
      if (key === shown) return
      shown = key
      lines.show(described)
    },
    end: () => lines.clear(),
  }
}

function createPlainLines(stream: NodeJS.WriteStream): RunGrid {
  let shownPercent = -1
  return {
    show({ progress, cells_done: done, cells_failed: failed, cells_total: total, cost_usd: cost }) {
      const step = Math.floor(progress / STEP_PERCENT) * STEP_PERCENT
      if (step <= shownPercent) return
      shownPercent = step
      const failures = failed === 0 ? '' : `, ${failed} failed`
      stream.write(`${printable(`${done + failed} of ${total} answers${failures}, ${formatUsd(cost)}`)}\n`)
    },
    end: () => {},
  }
}

function describeLanes(run: Run, texts: ReadonlyMap<string, string>, columns: number): string[] {
  const cells = run.cells_total / Math.max(1, run.lanes.length)
  const names = run.lanes.map(({ name }) => cutToWidth(printableInLine(name), NAME_WIDTH_MAX))
  const width = Math.max(...names.map((name) => widthOf(name)))
  const lanes = run.lanes.map(({ id, stats }, index) => {
    const name = names[index] ?? ''
    const filled = Math.round(((stats.completed + stats.failed) / Math.max(1, cells)) * BAR_WIDTH)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(Math.max(0, BAR_WIDTH - filled))}`
    const failed = stats.failed === 0 ? '' : `, ${stats.failed} failed`
    const median = stats.latency_ms.p50 === null ? '' : `, ${stats.latency_ms.p50} ms`
    const line = `${name}${' '.repeat(width - widthOf(name))}  ${bar} ${stats.completed}/${cells}${failed}${median}, ${formatUsd(stats.cost_usd)}`
    return `${line}${describeText(texts.get(id) ?? '', columns - widthOf(line))}`
  })
  const elapsedS = run.started_at === null ? 0 : (Date.now() - Date.parse(run.started_at)) / 1_000
  const left =
    run.progress < 5 || elapsedS < 1
      ? ''
      : `, ${Math.round((elapsedS * (100 - run.progress)) / run.progress)} s left`
  return [...lanes, `${run.status}, ${run.progress} %, ${formatUsd(run.cost_usd)}${left}`]
}

/** Returns the end of a text as far as there is room in the line. */
function describeText(text: string, columns: number): string {
  const words = printableInLine(text.trimEnd())
  if (words === '' || columns < TEXT_WIDTH_MIN) return ''
  const characters = Array.from(graphemes.segment(words), ({ segment }) => segment)
  let first = characters.length
  // From the end, because the last words are the new ones.
  for (let room = columns - TEXT_MARGIN; first > 0; first -= 1) {
    room -= widthOf(characters[first - 1] ?? '')
    if (room < 0) break
  }
  return `  ${first === 0 ? '' : '…'}${characters.slice(first).join('')}`
}
