import { setImmediate as nextTurn } from 'node:timers/promises'

/** Yields to other requests if enough work was done since the last time. */
export type TakeTurn = (workDone: number) => Promise<void>

/**
 * Creates a function that yields to other requests after each `workPerTurn` units of work. It counts work instead of measuring
 * time.
 */
export function createTurns(workPerTurn: number, signal: AbortSignal): TakeTurn {
  let done = 0
  return async (workDone) => {
    done += workDone
    if (done < workPerTurn) return
    done = 0
    await nextTurn()
    signal.throwIfAborted()
  }
}
