import type { Clock } from '../clock.ts'

/** Returns a clock whose two times are the same number. */
export function fakeClock(nowMs: () => number): Clock {
  return { nowMs, monotonicMs: nowMs }
}
