import { EXIT } from './exit-codes.ts'

let handler: (() => void) | null = null

/** Makes Ctrl-C end the program, or the piece of work that has asked for it. A second one always ends the program. */
export function watchInterruptions(): void {
  process.on('SIGINT', () => {
    const waiting = handler
    handler = null
    if (waiting === null) process.exit(EXIT.interrupted)
    waiting()
  })
}

/** Does work whose first interruption aborts the signal, so that the work can be taken back in order. */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  handler = () => controller.abort()
  try {
    return await work(controller.signal)
  } finally {
    handler = null
  }
}
