interface Repeated {
  /** The pause after each run. */
  readonly pauseMs: number
  readonly work: () => void | Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** Repeats the work, first after a pause. A failure does not end it. Returns a function that stops it. */
export function repeat({ pauseMs, work, onFailure }: Repeated): () => void {
  let isStopped = false
  let timer: NodeJS.Timeout
  const run = async (): Promise<void> => {
    try {
      await work()
    } catch (error) {
      onFailure(error)
    }
    schedule()
  }
  const schedule = (): void => {
    if (!isStopped) timer = setTimeout(() => void run(), pauseMs).unref()
  }
  schedule()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
