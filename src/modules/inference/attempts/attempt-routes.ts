import { setTimeout as wait } from 'node:timers/promises'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import { AppError } from '../../../kernel/app-error.ts'
import { KEY_LIMITS_UNKNOWN } from '../../../providers/connection/key-limits.ts'
import { UpstreamError, type UpstreamFailure } from '../../../providers/failures/upstream-error.ts'
import type { CircuitBreaker } from '../circuit/circuit-breaker.ts'

const ATTEMPTS_MIN = 3
const ATTEMPTS_MAX = 6
const BACKOFF_MS = 200
/** If an upstream asks for a longer pause, it is not retried. */
const PAUSE_MS_MAX = 2_000

export interface Attemptable {
  readonly breaker: CircuitBreaker | null
}

export interface AttemptRoutesOptions<Candidate extends Attemptable, Answer> {
  /** At least one, in the order to try them. */
  readonly candidates: readonly Candidate[]
  readonly accountId: string
  readonly attempt: (candidate: Candidate) => Promise<Answer>
  readonly cancellation: Cancellation
  readonly random?: () => number
}

/**
 * Tries upstreams until one answers: first the healthy ones in order, then those whose breaker is open, then, after a pause,
 * those with a retryable failure. Stops at once if the request is at fault or the client has left.
 */
export function attemptRoutes<Candidate extends Attemptable, Answer>(
  options: AttemptRoutesOptions<Candidate, Answer>,
): Promise<Answer> {
  return new RouteAttempts(options).run()
}

/** The attempts at one candidate so far. */
interface Trial<Candidate> {
  readonly candidate: Candidate
  /** A probe of a resting upstream, or the only upstream left. It is tried once. */
  readonly isSingle: boolean
  tries: number
  pauseMs: number
  /** Whether its last failure was its own fault. Reported to the breaker when the request ends. */
  hasFailed: boolean
}

class RouteAttempts<Candidate extends Attemptable, Answer> {
  readonly #options: AttemptRoutesOptions<Candidate, Answer>
  readonly #attemptsMax: number
  #attempts = 0
  /** How many candidates have been considered. */
  #position = 0
  readonly #resting: Candidate[] = []
  readonly #again: Trial<Candidate>[] = []
  readonly #trials: Trial<Candidate>[] = []
  #lastError: UpstreamError | AppError | null = null

  constructor(options: AttemptRoutesOptions<Candidate, Answer>) {
    this.#options = options
    this.#attemptsMax = Math.min(Math.max(options.candidates.length, ATTEMPTS_MIN), ATTEMPTS_MAX)
  }

  async run(): Promise<Answer> {
    const { attempt, accountId } = this.#options
    try {
      for (let trial = this.#next(); trial !== null; trial = this.#next()) {
        if (trial.pauseMs > 0) await this.#pause(trial)
        // Counted before the call, so that nothing can retry forever.
        this.#attempts += 1
        trial.tries += 1
        try {
          const answer = await attempt(trial.candidate)
          trial.hasFailed = false
          return answer
        } catch (error) {
          this.#noteFailure(trial, error)
        }
      }
      throw this.#lastError ?? new Error('no upstream was there to be asked')
    } finally {
      for (const { candidate, hasFailed } of this.#trials) if (hasFailed) candidate.breaker?.failed(accountId)
    }
  }

  #next(): Trial<Candidate> | null {
    if (this.#attempts >= this.#attemptsMax) return null
    return this.#nextFresh() ?? this.#nextResting() ?? this.#nextAgain()
  }

  #nextFresh(): Trial<Candidate> | null {
    const { candidates, accountId } = this.#options
    for (;;) {
      const candidate = candidates[this.#position]
      if (candidate === undefined) return null
      this.#position += 1
      const admission = candidate.breaker === null ? 'yes' : candidate.breaker.admit(accountId)
      if (admission !== 'no') return this.#start(candidate, admission === 'probe')
      this.#resting.push(candidate)
    }
  }

  /** If no other upstream is left, tries the resting one whose rest ends first. */
  #nextResting(): Trial<Candidate> | null {
    const { accountId } = this.#options
    const restMs = ({ breaker }: Candidate) => breaker?.restMs(accountId) ?? 0
    const [best] = this.#resting.toSorted((one, other) => restMs(one) - restMs(other))
    if (best === undefined) return null
    this.#resting.splice(this.#resting.indexOf(best), 1)
    best.breaker?.force(accountId)
    return this.#start(best, true)
  }

  #nextAgain(): Trial<Candidate> | null {
    const { accountId } = this.#options
    for (;;) {
      const trial = this.#again.shift()
      if (trial === undefined) return null
      if (trial.candidate.breaker?.admit(accountId) !== 'no') return trial
    }
  }

  #start(candidate: Candidate, isSingle: boolean): Trial<Candidate> {
    const trial = { candidate, isSingle, tries: 0, pauseMs: 0, hasFailed: false }
    this.#trials.push(trial)
    return trial
  }

  async #pause({ candidate, pauseMs }: Trial<Candidate>): Promise<void> {
    const { cancellation, accountId } = this.#options
    try {
      await wait(pauseMs, undefined, { signal: cancellation.signal })
    } catch {
      candidate.breaker?.abandoned(accountId)
      throw cancellation.reason
    }
  }

  /** Throws errors that another attempt cannot change. */
  #noteFailure(trial: Trial<Candidate>, error: unknown): void {
    const { random = Math.random, accountId, cancellation } = this.#options
    const isUpstreams = error instanceof UpstreamError && isUpstreamAtFault(error)
    if (!isUpstreams) trial.candidate.breaker?.abandoned(accountId)
    else if (trial.isSingle) trial.candidate.breaker?.failed(accountId)
    trial.hasFailed = isUpstreams && !trial.isSingle
    if (error instanceof UpstreamError) {
      // The client has left, so no retry is needed.
      cancellation.throwIfCancelled()
      if (error.isRequestAtFault || isShortage(error)) throw error
      const pauseMs = pauseBeforeRetry(error, trial.tries, random)
      if (pauseMs !== null && !trial.isSingle) this.#again.push(Object.assign(trial, { pauseMs }))
    } else if (!isQueueFull(error)) {
      throw error
    }
    this.#lastError = error
  }
}

/** Returns null if the same upstream should not be tried again. After a timeout, another try would take as long again. */
function pauseBeforeRetry(error: UpstreamError, tries: number, random: () => number): number | null {
  if (!error.isRetryable || error.details.failure === 'timeout') return null
  const askedMs = (error.details.retryAfterSeconds ?? 0) * 1000
  if (askedMs > PAUSE_MS_MAX) return null
  const backoffMs = BACKOFF_MS * 2 ** (tries - 1) * (0.5 + random() / 2)
  return Math.max(askedMs, Math.min(backoffMs, PAUSE_MS_MAX))
}

/**
 * A refusal of this request or of our credential, throttling, and a shortage in this process say nothing about the upstream's
 * health.
 */
function isUpstreamAtFault({ details: { failure, status } }: UpstreamError): boolean {
  return isBreakerFailure(failure, status ?? null)
}

/** Whether a breaker counts a failed call, if no later call of the request succeeds. */
export function isBreakerFailure(failure: UpstreamFailure, status: number | null): boolean {
  if (failure !== 'status') return failure !== 'local'
  return status !== null && status >= 500 && status !== 501 && status !== 529
}

/** Of this process: every attempt would fail. */
function isShortage({ details: { failure, upstreamCode } }: UpstreamError): boolean {
  return failure === 'local' && upstreamCode !== KEY_LIMITS_UNKNOWN
}

/** Another upstream may have a free slot. */
function isQueueFull(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'queue_full'
}
