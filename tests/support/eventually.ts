import { setTimeout as delay } from 'node:timers/promises'

/** A loaded machine may take many times longer than an idle one. A condition that never holds still fails. */
const PATIENCE_MS = 60_000
/** The pause grows, because most conditions hold soon, and asking for the others often would only keep the machine busy. */
const PAUSE_MS_MIN = 10
const PAUSE_MS_MAX = 250
const PAUSE_GROWTH = 1.4

/** Waits until the check passes. */
export async function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  const deadlineMs = performance.now() + PATIENCE_MS
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, PAUSE_MS_MAX)) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() >= deadlineMs) throw error
    }
    await delay(pauseMs)
  }
}
