/** A timer that code of the gateway started. */
interface CapturedTimer {
  /** The file that started it, relative to `src/`. */
  readonly file: string
  readonly run: () => void
  readonly isPeriodic: boolean
}

export interface CapturedTimers {
  /** Runs all work that waits for its next turn now: intervals, and timeouts that do not keep the process alive. Returns the files. */
  runAll(): ReadonlySet<string>
  restore(): void
}

/** Replaces the global timers, so that a test can run all periodic work of a gateway without waiting for it. */
export function captureTimers(): CapturedTimers {
  const { setInterval: startInterval, setTimeout: startTimeout } = globalThis
  const { clearInterval: stopInterval, clearTimeout: stopTimeout } = globalThis
  const timers = new Map<NodeJS.Timeout, CapturedTimer>()

  const replacements = {
    setInterval(callback: (...values: unknown[]) => void, ...rest: [number?, ...unknown[]]) {
      const timer = startInterval(callback, ...rest)
      const file = callingFile()
      if (file !== null) timers.set(timer, { file, run: () => callback(), isPeriodic: true })
      return timer
    },
    setTimeout(callback: (...values: unknown[]) => void, ...rest: [number?, ...unknown[]]) {
      const fire = (...values: unknown[]): void => {
        timers.delete(timer)
        callback(...values)
      }
      const timer = startTimeout(fire, ...rest)
      const file = callingFile()
      if (file !== null) timers.set(timer, { file, run: () => fire(), isPeriodic: false })
      return timer
    },
    clearInterval(timer: NodeJS.Timeout) {
      timers.delete(timer)
      stopInterval(timer)
    },
    clearTimeout(timer: NodeJS.Timeout) {
      timers.delete(timer)
      stopTimeout(timer)
    },
  }
  Object.assign(globalThis, replacements)
  return {
    runAll() {
      const ran = new Set<string>()
      // Work may start timers, which are for the next time.
      for (const [timer, { file, run, isPeriodic }] of Array.from(timers)) {
        if (!timers.has(timer) || (!isPeriodic && timer.hasRef())) continue
        if (!isPeriodic) stopTimeout(timer)
        ran.add(file)
        run()
      }
      return ran
    },
    restore: () =>
      Object.assign(globalThis, {
        setInterval: startInterval,
        setTimeout: startTimeout,
        clearInterval: stopInterval,
        clearTimeout: stopTimeout,
      }),
  }
}

const OWN_FILE = /\/src\/([^:)]+\.ts):\d+/

/** Returns the file of the gateway that called, or null if other code did. */
function callingFile(): string | null {
  // The message, this function, and the replaced timer come before the caller.
  const caller = new Error().stack?.split('\n')[3] ?? ''
  return caller.includes('node_modules') ? null : (OWN_FILE.exec(caller)?.[1] ?? null)
}
