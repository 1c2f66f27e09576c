import { setTimeout as wait } from 'node:timers/promises'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { AppError } from '../../kernel/app-error.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'

const ATTEMPTS_MIN = 3
const ATTEMPTS_MAX = 6
const BACKOFF_MS = 200
/** An upstream that asks for a longer pause is not waited for. */
const PAUSE_MS_MAX = 2_000

export interface Attemptable {
  readonly breaker: CircuitBreaker | null
}

export interface AttemptRoutesOptions<Candidate extends Attemptable, Answer> {
  /** In the order they are to be tried. */
  readonly candidates: readonly Candidate[]
  readonly attempt: (candidate: Candidate) => Promise<Answer>
  readonly cancellation: Cancellation
  readonly random?: () => number
}

/**
 * Tries one upstream after the other until one answers: first each in turn, then again, after a pause, those whose
 * failure may pass. Ends at once when the request itself is at fault or the client is gone.
 */
export async function attemptRoutes<Candidate extends Attemptable, Answer>(
  options: AttemptRoutesOptions<Candidate, Answer>,
): Promise<Answer> {
  const { attempt, cancellation, random = Math.random } = options
  const queue = options.candidates.map((candidate) => ({ candidate, tries: 0, pauseMs: 0 }))
  const attemptsMax = Math.min(Math.max(queue.length, ATTEMPTS_MIN), ATTEMPTS_MAX)
  let attempts = 0
  let lastError: UpstreamError | AppError | null = null
  for (let next = queue.shift(); next !== undefined && attempts < attemptsMax; next = queue.shift()) {
    const { candidate } = next
    if (candidate.breaker && !candidate.breaker.admit()) continue
    if (next.pauseMs > 0) await pause(next.pauseMs, candidate, cancellation)
    // Counted before the call, so that nothing can retry forever.
    attempts += 1
    next.tries += 1
    try {
      return await attempt(candidate)
    } catch (error) {
      if (!(error instanceof UpstreamError)) {
        candidate.breaker?.abandoned()
        if (!isQueueFull(error)) throw error
        lastError = error
        continue
      }
      reportToBreaker(candidate, error)
      if (error.isRequestAtFault) throw error
      lastError = error
      const pauseMs = pauseBeforeRetry(error, next.tries, random)
      if (pauseMs !== null) queue.push({ ...next, pauseMs })
    }
  }
  throw lastError ?? everyUpstreamRests(options.candidates)
}

async function pause(pauseMs: number, candidate: Attemptable, { signal }: Cancellation): Promise<void> {
  try {
    await wait(pauseMs, undefined, { signal })
  } catch {
    candidate.breaker?.abandoned()
    throw signal.reason
  }
}

/** Null when the same upstream is not to be asked again. One that had its whole time would only take as long again. */
function pauseBeforeRetry(error: UpstreamError, tries: number, random: () => number): number | null {
  if (!error.isRetryable || error.details.failure === 'timeout') return null
  const askedMs = (error.details.retryAfterSeconds ?? 0) * 1000
  if (askedMs > PAUSE_MS_MAX) return null
  const backoffMs = BACKOFF_MS * 2 ** (tries - 1) * (0.5 + random() / 2)
  return Math.max(askedMs, Math.min(backoffMs, PAUSE_MS_MAX))
}

// A refusal of this request, or of our credential, says nothing about whether the upstream is well.
function reportToBreaker({ breaker }: Attemptable, error: UpstreamError): void {
  const { failure, status = 0 } = error.details
  if (failure !== 'status' || status >= 500) breaker?.failed()
  else breaker?.abandoned()
}

/** Another upstream may have room. */
function isQueueFull(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'queue_full'
}

function everyUpstreamRests(candidates: readonly Attemptable[]): AppError {
  const restsMs = candidates.map((candidate) => candidate.breaker?.retryAfterMs() ?? 1000)
  return new AppError('service_unavailable', 'The providers of this model are failing. Try again shortly.', {
    retryAfterSeconds: Math.ceil(Math.min(...restsMs) / 1000),
  })
}
