import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from './command-failure.ts'
import { EXIT } from './exit-codes.ts'

let current: AbortController | null = null

/**
 * One press of Ctrl-C may arrive twice: from the terminal, and from the launcher that an older Node runs, which passes signals on. A second
 * signal this soon is not a second press.
 */
const SAME_PRESS_MS = 300

/** Makes Ctrl-C end the program, or the piece of work that has asked for it. A second one always ends the program. */
export function watchInterruptions(): void {
  let lastMs = -Infinity
  process.on('SIGINT', () => {
    if (performance.now() - lastMs < SAME_PRESS_MS) return
    lastMs = performance.now()
    if (current === null || current.signal.aborted) process.exit(EXIT.interrupted)
    current.abort()
  })
}

/** Does work whose first interruption aborts the signal, so that the work can be taken back in order. */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const outer = current
  const controller = new AbortController()
  current = controller
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted && isAbort(error)
      ? new CommandFailure(EXIT.interrupted, 'Interrupted.')
      : error
  } finally {
    current = outer
  }
}

/** Pauses. An interruption of the work that pauses ends the pause with an error. */
export async function pauseUnlessInterrupted(pauseMs: number): Promise<void> {
  await pause(pauseMs, undefined, current === null ? {} : { signal: current.signal })
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
