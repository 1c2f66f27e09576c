import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { CellKey } from '../cells/cell-writer.ts'
import type { LiveMessage } from './live-message.ts'
import { nameOf } from './live-sender.ts'

export type CellEvent =
  /** A part of an answer. An offset of 0 begins it, also if an earlier try had begun. */
  | { readonly kind: 'text'; readonly key: CellKey; readonly offset: number; readonly text: string }
  | { readonly kind: 'cell'; readonly key: CellKey; readonly status: 'completed' | 'failed' }

interface FollowedCell {
  readonly key: CellKey
  readonly attempt: number
  text: string
  takenLength: number
}

/** A client that does not read loses the oldest of them. It can list the cells. */
const ENDED_MAX = 10_000

/**
 * What is known of the cells of a followed run. Its size is bounded by the answers that are being written, even if the client does
 * not read.
 */
export class FollowedCells {
  readonly #cells = new Map<string, FollowedCell>()
  #ended: CellEvent[] = []
  #hasGap = false
  #isRunOver = false
  #changed = Promise.withResolvers<void>()

  /** Whether a message was missed. */
  get hasGap(): boolean {
    return this.#hasGap
  }

  takeGap(): boolean {
    const had = this.#hasGap
    this.#hasGap = false
    return had
  }

  /** Whether the process that worked on the run has stopped since the last time. */
  takeRunOver(): boolean {
    const was = this.#isRunOver
    this.#isRunOver = false
    return was
  }

  add({ pieces, ended, isRunOver }: LiveMessage): void {
    for (const piece of pieces) this.#addPiece(piece)
    for (const { status, ...key } of ended) {
      this.#cells.delete(nameOf(key))
      this.#ended.push({ kind: 'cell', key, status })
    }
    this.#ended = this.#ended.slice(-ENDED_MAX)
    if (isRunOver) this.#isRunOver = true
    this.#changed.resolve()
  }

  #addPiece({ attempt, offset, text, ...key }: LiveMessage['pieces'][number]): void {
    const name = nameOf(key)
    const known = this.#cells.get(name)
    if (known !== undefined && known.attempt > attempt) return
    const cell = known?.attempt === attempt ? known : { key, attempt, text: '', takenLength: 0 }
    this.#cells.set(name, cell)
    if (offset > cell.text.length) this.#hasGap = true
    else cell.text += text.slice(cell.text.length - offset)
  }

  /** Takes the events since the last time. */
  take(): CellEvent[] {
    this.#changed = Promise.withResolvers()
    const events: CellEvent[] = []
    for (const cell of this.#cells.values()) {
      const { key, takenLength: offset, text } = cell
      if (offset === text.length) continue
      events.push({ kind: 'text', key, offset, text: text.slice(offset) })
      cell.takenLength = text.length
    }
    events.push(...this.#ended)
    this.#ended = []
    return events
  }

  /** Resolves when something was added, at the timeout, and on cancellation. */
  async wait(timeoutMs: number, cancellation: Cancellation): Promise<void> {
    const { promise, resolve } = this.#changed
    const wake = (): void => resolve()
    const timer = setTimeout(wake, timeoutMs)
    cancellation.onCancel(wake)
    await promise
    clearTimeout(timer)
    cancellation.offCancel(wake)
  }
}
