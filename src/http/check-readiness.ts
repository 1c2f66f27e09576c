import type { Logger } from '../kernel/logger.ts'

/** Resolves when the thing works; rejects, or stops waiting when the signal aborts, when it does not. */
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

/** Runs all checks at once, each bounded in time. Callers that come meanwhile share the run: anybody may ask. */
export function checkReadiness({
  checks,
  logger,
  timeoutMs = 2_000,
}: ReadinessOptions): () => Promise<Readiness> {
  let running: Promise<Readiness> | null = null

  const run = async (): Promise<Readiness> => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const { result, cause } = await runCheck(check, timeoutMs)
        // The reason is for the operator; the answer is readable without a key.
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
    await Promise.race([check(controller.signal), timedOut])
    return { result: finish('ok') }
  } catch (cause) {
    return { result: finish(controller.signal.aborted ? 'timed_out' : 'failed'), cause }
  } finally {
    clearTimeout(timer)
  }
}
