import { createProgressBar } from './progress-bar.ts'
import { formatBytes } from '../format-bytes.ts'
import { printable } from '../printable.ts'

/** Shows how much of a file was sent or received, how fast, and how long the rest takes. */
export interface TransferBar {
  /** Begins, or continues at a position after a cut. A null total is not known. */
  start(bytes: number, bytesTotal: number | null): void
  add(bytes: number): void
  /** Removes the bar. It is not drawn again, even if the rest of a refused upload is still on its way. */
  clear(): void
}

/** Shorter transfers need no bar. */
const HIDDEN_MS = 1_000

export function createTransferBar(
  stream: NodeJS.WriteStream,
  { name, bytesTotal }: { name: string; bytesTotal: number | null },
  nowMs: () => number = Date.now,
): TransferBar {
  const bar = createProgressBar(stream, nowMs)
  const startedAtMs = nowMs()
  let total = bytesTotal
  let done = 0
  let moved = 0
  let isOver = false
  return {
    start(bytes, bytesAll) {
      done = bytes
      total = bytesAll
    },
    add(bytes) {
      done += bytes
      moved += bytes
      const elapsedMs = nowMs() - startedAtMs
      if (elapsedMs < HIDDEN_MS || isOver) return
      const rate = `${formatBytes((moved * 1_000) / elapsedMs)}/s`
      // A form is a little longer than its files.
      const shown = Math.min(done, total ?? done)
      const amount = total === null ? formatBytes(done) : `${formatBytes(shown)} of ${formatBytes(total)}`
      bar.show(total === null || total === 0 ? 0 : shown / total, `${printable(name)}, ${amount}, ${rate}`)
    },
    clear() {
      isOver = true
      bar.clear()
    },
  }
}
