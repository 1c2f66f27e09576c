const PAUSE_MS = 100

/**
 * Measures regularly how long a turn of the event loop takes, without the time in which it waits for something to do. Returns a
 * function that stops it.
 */
export function measureTurns(note: (turnMs: number, nowMs: number) => void): () => void {
  let isStopped = false
  const measure = (): void => {
    // While something waits to be run immediately, the loop does not sleep, so from one to the next is one turn.
    setImmediate(() => {
      const startedMs = performance.now()
      setImmediate(() => {
        if (isStopped) return
        const nowMs = performance.now()
        note(nowMs - startedMs, nowMs)
        timer = setTimeout(measure, PAUSE_MS).unref()
      })
    })
  }
  let timer = setTimeout(measure, PAUSE_MS).unref()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
