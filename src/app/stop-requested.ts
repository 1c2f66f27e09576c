const SIGNAL_EXIT_CODE = 130

/** Resolves with exit code 0 on the first request to stop. The second does not wait for anything. */
export function stopRequested(): Promise<number> {
  return new Promise((resolve) => {
    let isStopping = false
    const stop = () => {
      if (isStopping) process.exit(SIGNAL_EXIT_CODE)
      isStopping = true
      resolve(0)
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}
