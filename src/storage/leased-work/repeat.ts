interface Repeated {
  /** The pause after each run. */
  readonly pauseMs: number
  /** The pause before the first run, if it is another one. */
  readonly firstMs?: number
  readonly work: () => void | Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** Repeats the work. A failure does not end it. Returns a function that stops it and resolves when no run is in progress. */
export function repeat({ pauseMs, firstMs = pauseMs, work, onFailure }: Repeated): () => Promise<void> {
  let isStopped = false
  let timer: NodeJS.Timeout
  let running: Promise<void> | null = null
  const run = async (): Promise<void> => {
    try {
      await work()
    } catch (error) {
      onFailure(error)
    }
    schedule(pauseMs)
  }
  const schedule = (delayMs: number): void => {
    if (isStopped) return
    timer = setTimeout(() => {
      running = run()
    }, delayMs).unref()
  }
  schedule(firstMs)
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
  }
}
