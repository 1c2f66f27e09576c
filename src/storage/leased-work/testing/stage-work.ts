import { vi } from 'vitest'
import type { Logger } from '../../../kernel/logger.ts'
import { LeasedWork, type LeasedItem, type LeasedWorkOptions } from '../leased-work.ts'

export const POLL_MS = 1_000
export const RENEW_MS = 300

/** A queue of waiting items, and the work on it. */
export function stageWork(waiting: ScriptedItem[], options: Partial<LeasedWorkOptions<ScriptedItem>> = {}) {
  const warnings: string[] = []
  const note = (_details: object, message: string) => void warnings.push(message)
  const logger: Logger = { info: note, warn: note, error: note }
  const claimed: number[] = []
  const work = new LeasedWork<ScriptedItem>({
    name: 'tasks',
    claim: async (countMax) => {
      claimed.push(countMax)
      return waiting.splice(0, countMax)
    },
    concurrency: 2,
    pollMs: POLL_MS,
    logger,
    ...options,
  })
  return { work, warnings, claimed }
}

/** Work that a test ends by hand. It records the calls of `lose`, `stop` and `windDown`. */
export class ScriptedItem implements LeasedItem {
  readonly told: string[] = []
  readonly #end = Promise.withResolvers<void>()
  isLeaving = false

  perform(): Promise<void> {
    return this.#end.promise
  }
  lose(): void {
    this.told.push('lose')
  }
  stop(why: string): void {
    this.told.push(`stop: ${why}`)
  }
  windDown(): void {
    this.told.push('wind down')
  }
  end(): void {
    this.#end.resolve()
  }
  fail(): void {
    this.#end.reject(new Error('it broke'))
  }
}

export const pass = (durationMs: number) => vi.advanceTimersByTimeAsync(durationMs)

export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  void promise.then(() => {
    isOver = true
  })
  await pass(0)
  return isOver
}
