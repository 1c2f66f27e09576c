import type { Cancellation } from '../../kernel/cancellation.ts'
import { Deadlines, type Deadline } from '../../kernel/deadlines.ts'

/** Takes a slot away from work that gives way: the work ends and releases it. */
export type GiveWay = () => void

interface WaitingWork<Slot> {
  readonly take: (slot: Slot) => void
  readonly fail: (reason: unknown) => void
  readonly giveWay: GiveWay
  readonly deadline: Deadline
  readonly cancellation: Cancellation
  readonly leave: (reason: unknown) => void
}

/** How long somebody waits behind such work before it has to leave. */
const PATIENCE_MS = 500

/** Work that takes the slots of a queue that nobody else wants, in the order of its arrival, and leaves them to others. */
export class BackgroundSlots<Slot> {
  readonly #deadlines = new Deadlines()
  #waiting: WaitingWork<Slot>[] = []
  /** In the order in which they began. */
  readonly #running = new Set<GiveWay>()
  #timer: NodeJS.Timeout | null = null

  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves with a slot. Rejects when the work is cancelled, and resolves with `onLate` after the time. */
  wait(
    giveWay: GiveWay,
    {
      cancellation,
      waitMsMax,
      onLate,
    }: {
      readonly cancellation: Cancellation
      readonly waitMsMax: number
      readonly onLate: () => Slot
    },
  ): Promise<Slot> {
    cancellation.throwIfCancelled()
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown): void => {
        this.#remove(work)
        reject(reason)
      }
      const deadline = this.#deadlines.add(waitMsMax, () => {
        this.#remove(work)
        resolve(onLate())
      })
      const work = { take: resolve, fail: reject, giveWay, deadline, cancellation, leave }
      cancellation.onCancel(leave)
      this.#waiting.push(work)
    })
  }

  /** Gives a slot to the first that waits. */
  serve(use: (giveWay: GiveWay) => Slot): void {
    const [work] = this.#waiting
    if (work === undefined) return
    this.#remove(work)
    work.take(use(work.giveWay))
  }

  begin(giveWay: GiveWay): void {
    this.#running.add(giveWay)
  }

  end(giveWay: GiveWay): void {
    this.#running.delete(giveWay)
  }

  /** Others wait. Work leaves if they do so for longer. `countWaiting` says how many wait then. */
  makeWay(countWaiting: () => number): void {
    if (this.#timer !== null || this.#running.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      const count = countWaiting()
      // What began last has lost least.
      for (const giveWay of [...this.#running].toReversed().slice(0, count)) giveWay()
      if (count > 0) this.makeWay(countWaiting)
    }, PATIENCE_MS).unref()
  }

  failAll(reason: unknown): void {
    for (const work of this.#waiting.slice()) {
      this.#remove(work)
      work.fail(reason)
    }
  }

  #remove(work: WaitingWork<Slot>): void {
    this.#waiting = this.#waiting.filter((other) => other !== work)
    this.#deadlines.cancel(work.deadline)
    work.cancellation.offCancel(work.leave)
  }
}
