import { canRedraw, sizeOf } from '../can-redraw.ts'
import { formatSeconds } from '../format-seconds.ts'
import { printableInLine } from '../printable.ts'
import { cutToWidth } from '../text-width.ts'

const WIDTH = 24
const FRAME_MS_MIN = 100

/** A bar on one line of the terminal. Without a terminal that moves its cursor nothing is drawn. */
export interface ProgressBar {
  /** Draws a share from 0 to 1 with a note beside it, for work that began then; by default, when the bar was made. */
  show(share: number, note: string, beganAtMs?: number): void
  /** Removes the bar. */
  clear(): void
}

export function createProgressBar(
  stream: NodeJS.WriteStream,
  nowMs: () => number = Date.now,
  { tells = 'time left' }: { tells?: 'time left' | 'time' } = {},
): ProgressBar {
  const startedAtMs = nowMs()
  let drawnAtMs = 0
  let isDrawn = false
  if (!canRedraw(stream)) return { show: () => {}, clear: () => {} }
  return {
    show(part, note, beganAtMs = startedAtMs) {
      const share = Math.min(1, Math.max(0, part))
      if (nowMs() - drawnAtMs < FRAME_MS_MIN && share < 1) return
      drawnAtMs = nowMs()
      isDrawn = true
      const filled = Math.round(share * WIDTH)
      const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`
      const elapsedMs = Math.max(0, nowMs() - beganAtMs)
      const elapsed = tells === 'time' ? `, ${formatSeconds(Math.floor(elapsedMs / 1_000))}` : ''
      const line = `${bar} ${String(Math.round(share * 100)).padStart(3)} %  ${printableInLine(note)}${elapsed}${timeLeft(share, elapsedMs)}`
      stream.write(`\r\u001b[2K${cutToWidth(line, Math.max(1, sizeOf(stream).columns - 1))}`)
    },
    clear() {
      if (isDrawn) stream.write('\r\u001b[2K')
      isDrawn = false
    },
  }
}

/** The rest at the rate so far. Too early there is no rate to speak of. */
function timeLeft(share: number, elapsedMs: number): string {
  if (share < 0.05 || share >= 1 || elapsedMs < 1_000) return ''
  return `, ${formatSeconds(((elapsedMs / share) * (1 - share)) / 1_000)} left`
}
