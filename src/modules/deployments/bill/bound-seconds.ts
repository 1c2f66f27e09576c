import type { Run } from '../deployment.ts'

/**
 * Returns the seconds of a run with a GPU, from the first binding to `untilMs`. Time between two GPUs does not count, nor time since
 * the engine was lost: if it is ready again, the time since its GPU was bound counts afterwards.
 */
export function boundSeconds(
  { boundAtMs, unreadyAtMs, unboundMs }: Run,
  untilMs: number,
  round: (seconds: number) => number,
): number {
  if (boundAtMs === null) return 0
  const endMs = Math.min(untilMs, unreadyAtMs ?? untilMs)
  return Math.max(0, round((endMs - boundAtMs - unboundMs) / 1000))
}
