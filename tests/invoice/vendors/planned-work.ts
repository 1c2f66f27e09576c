import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { decodeIds } from './tokens.ts'
import type { WorkPlan } from '../case.ts'

/** How a prompt names its case. Every vendor finds it in the bytes that it received. */
export function markOf(number: number): string {
  return `case-${number}.`
}

const STOP_MS_MAX = 5_000
const CLOSE_MS_MAX = 1_000
const POLL_MS = 5
const MARK = /case-(\d+)\./

/** The work of one case at all vendors, and where it waits. */
export class PlannedWork {
  readonly number: number
  readonly plan: WorkPlan
  readonly #paused = Promise.withResolvers<void>()
  readonly #released = Promise.withResolvers<void>()
  readonly #stopping: Promise<unknown>[] = []
  #failure: string | null = null
  /** Calls that arrived, and those that a vendor still works on. */
  arrived = 0
  running = 0
  waiting = 0
  /** Characters of the answer that were sent before the work waited. */
  sentLength = 0
  /** Whether a vendor wrote a part of an answer. */
  hasWritten = false

  constructor(number: number, plan: WorkPlan) {
    this.number = number
    this.plan = plan
    if (plan.pauseAfter === null) this.release()
  }

  /** Resolves when a vendor waits for the end of the case. */
  get paused(): Promise<void> {
    return this.#paused.promise
  }

  /** A defect of a simulated vendor, which must fail the test. */
  get failure(): string | null {
    return this.#failure
  }

  begin(): void {
    this.arrived += 1
    this.running += 1
  }

  finish(): void {
    this.running -= 1
  }

  fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? (error.stack ?? error.message) : inspect(error)
  }

  release(): void {
    this.#released.resolve()
  }

  /** Notes a call that its vendor stops when the connection is closed. */
  stopsWith(closed: Promise<unknown>): void {
    this.#stopping.push(closed)
  }

  /**
   * Waits until the calls that stop when they are left have been closed. A gateway may also read on: then they go on after a
   * while.
   */
  async untilStopped(): Promise<void> {
    await Promise.race([Promise.all(this.#stopping), delay(STOP_MS_MAX)])
  }

  /** Waits until vendors work on no more than `count` calls. A gateway may also wait for all of them: then they go on. */
  async untilRunning(count: number): Promise<void> {
    const deadline = performance.now() + CLOSE_MS_MAX
    while (this.running > count && performance.now() < deadline) await delay(POLL_MS)
  }

  /** Waits until the case goes on, or until the caller has closed the connection. */
  async pause(closed: Promise<'closed'>): Promise<void> {
    this.waiting += 1
    this.#paused.resolve()
    await Promise.race([this.#released.promise, closed])
  }
}

/** The work of all running cases. */
export class Plans {
  readonly #works = new Map<number, PlannedWork>()

  add(number: number, plan: WorkPlan): PlannedWork {
    const work = new PlannedWork(number, plan)
    this.#works.set(number, work)
    return work
  }

  remove(number: number): void {
    this.#works.delete(number)
  }

  /** Finds the case to which a request belongs. Prompts may be token ids. */
  of(text: string): PlannedWork | null {
    const mark = MARK.exec(text) ?? MARK.exec(readIds(text))
    return mark === null ? null : (this.#works.get(Number(mark[1])) ?? null)
  }
}

const IDS = /\[\s*\d+(?:\s*,\s*\d+)+\s*\]/

function readIds(text: string): string {
  const ids = IDS.exec(text)?.[0]
  return ids === undefined ? '' : decodeIds(ids.slice(1, -1).split(',').map(Number))
}
