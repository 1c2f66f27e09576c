import { setImmediate as nextTurn } from 'node:timers/promises'

/** Resolves when other requests have had their turn, if this one has worked long enough. */
export type TakeTurn = (workDone: number) => Promise<void>

/** Long work in turns: after so much of it, counted and not timed, everybody else comes first. */
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
