import type { Logger } from '../kernel/logger.ts'

/** Resolves if the dependency works; rejects if it fails or the signal aborts. */
export type ReadinessCheck = (signal: AbortSignal) => Promise<void>

export interface Readiness {
  readonly isReady: boolean
  readonly checks: Record<string, CheckResult>
}

interface CheckResult {
  readonly status: 'ok' | 'failed' | 'timed_out'
  readonly duration_ms: number
}

interface ReadinessOptions {
  readonly checks: Readonly<Record<string, ReadinessCheck>>
  readonly logger: Logger
  readonly timeoutMs?: number
}

/** A check that hangs for this long, for example on a dead connection, is started again. */
const HANGING_MS_MAX = 5_000

/** Runs all checks in parallel, each with a timeout. Concurrent callers share one run, because the route needs no key. */
export function checkReadiness({
  checks,
  logger,
  timeoutMs = 1_000,
}: ReadinessOptions): () => Promise<Readiness> {
  let running: Promise<Readiness> | null = null
  /** Checks that timed out and still run. They are not started again, and callers do not wait for them. */
  const hangingSinceMs = new Map<string, number>()

  const runOnce = async (name: string, check: ReadinessCheck) => {
    const sinceMs = hangingSinceMs.get(name) ?? Number.NEGATIVE_INFINITY
    if (performance.now() - sinceMs < HANGING_MS_MAX)
      return { result: { status: 'timed_out', duration_ms: 0 } as const }
    return runCheck(check, timeoutMs, (answered) => {
      hangingSinceMs.set(name, performance.now())
      answered.finally(() => hangingSinceMs.delete(name)).catch(() => {})
    })
  }

  const run = async (): Promise<Readiness> => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const { result, cause } = await runOnce(name, check)
        // Only logged, because the response is readable without a key.
        if (cause !== undefined) logger.warn({ check: name, err: cause }, 'a readiness check failed')
        return [name, result] as const
      }),
    )
    return {
      isReady: results.every(([, { status }]) => status === 'ok'),
      checks: Object.fromEntries(results),
    }
  }

  return () => {
    running ??= run().finally(() => {
      running = null
    })
    return running
  }
}

async function runCheck(
  check: ReadinessCheck,
  timeoutMs: number,
  onHanging: (answered: Promise<void>) => void,
): Promise<{ result: CheckResult; cause?: unknown }> {
  const startedMs = performance.now()
  const finish = (status: CheckResult['status']): CheckResult => ({
    status,
    duration_ms: Math.round(performance.now() - startedMs),
  })
  const controller = new AbortController()
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const reason = new Error(`no answer within ${timeoutMs} ms`)
    controller.abort(reason)
    reject(reason)
  }, timeoutMs)
  try {
    const answered = check(controller.signal)
    await Promise.race([answered, timedOut]).catch((error: unknown) => {
      if (controller.signal.aborted) onHanging(answered)
      throw error
    })
    return { result: finish('ok') }
  } catch (cause) {
    return { result: finish(controller.signal.aborted ? 'timed_out' : 'failed'), cause }
  } finally {
    clearTimeout(timer)
  }
}
