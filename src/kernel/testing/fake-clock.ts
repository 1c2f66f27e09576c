import type { Clock } from '../clock.ts'

/** Both times of one number, as it is while nobody sets the clock. */
export function fakeClock(nowMs: () => number): Clock {
  return { nowMs, monotonicMs: nowMs }
}
