import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { nextLoopTurn } from '../../../kernel/turns/loop-turns.ts'
import type { InteractiveLoad } from './interactive-load.ts'

/** Between two lines that begin while people ask: about a fiftieth of the CPU time of one core, or 100 lines a second. */
const SPACING_MS = 10
/** While the process has much to do. */
const SPACING_BUSY_MS = 40
const BUSY_SHARE = 0.7
const UTILIZATION_MS = 500
/** A line that is longer counts as several. */
const SPACED_BYTES = 64 * 1024
/** How long work on lines holds the event loop while nobody asks, and while people do. */
const TURN_MS = 5
const TURN_BESIDE_MS = 0.5
const REST_BESIDE_MS = 5
/** Answers are written together this often while people ask. */
const GATHER_MS = 100

/** How fast this process works on lines. It goes at full speed while nobody asks, and makes way for people who do. */
export class LinePace {
  readonly #load: Pick<InteractiveLoad, 'isSeen'>
  #nextMs = 0
  #spacingMs = SPACING_MS
  #readAtMs = 0
  #utilization = performance.eventLoopUtilization()
  #gathering: Promise<void> | null = null
  #turnEndMs = 0

  constructor(load: Pick<InteractiveLoad, 'isSeen'>) {
    this.#load = load
  }

  /** How long no line may begin. */
  pauseMs(nowMs: number): number {
    return this.#load.isSeen ? Math.max(0, this.#nextMs - nowMs) : 0
  }

  noteBegun(bytes: number, nowMs: number): void {
    this.#readUtilization(nowMs)
    const lines = 1 + Math.floor(bytes / SPACED_BYTES)
    this.#nextMs = nowMs + this.#spacingMs * lines
  }

  /** Call it between the steps of long work. It gives requests a turn when it is time. */
  async step(): Promise<void> {
    if (performance.now() < this.#turnEndMs) return
    if (this.#load.isSeen) await delay(REST_BESIDE_MS)
    else await nextLoopTurn()
    this.#turnEndMs = performance.now() + (this.#load.isSeen ? TURN_BESIDE_MS : TURN_MS)
  }

  /** Waits for others while people ask, because a commit of many lines delays requests less than many commits. */
  gather(): Promise<void> | null {
    if (!this.#load.isSeen) return null
    this.#gathering ??= delay(GATHER_MS).then(() => {
      this.#gathering = null
    })
    return this.#gathering
  }

  #readUtilization(nowMs: number): void {
    if (nowMs - this.#readAtMs < UTILIZATION_MS) return
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization)
    this.#spacingMs = utilization > BUSY_SHARE ? SPACING_BUSY_MS : SPACING_MS
    this.#utilization = now
    this.#readAtMs = nowMs
  }
}
