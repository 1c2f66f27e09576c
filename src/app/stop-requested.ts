const SIGNAL_EXIT_CODE = 130
/** npm and timeout(1) pass a signal on that the terminal or they themselves have sent to the whole group already. */
const REPEAT_MS = 1_000

/** Resolves on the first request to stop. A later one does not wait for anything. */
export function stopRequested({ onImpatience }: { onImpatience: () => void }): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | null = null
    const stop = () => {
      if (firstMs === null) {
        firstMs = performance.now()
        resolve()
      } else if (performance.now() - firstMs > REPEAT_MS) {
        onImpatience()
        process.exit(SIGNAL_EXIT_CODE)
      }
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}
