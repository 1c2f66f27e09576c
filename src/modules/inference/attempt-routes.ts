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
  /** In the order they are to be tried; at least one. */
  readonly candidates: readonly Candidate[]
  readonly accountId: string
  readonly attempt: (candidate: Candidate) => Promise<Answer>
  readonly cancellation: Cancellation
  readonly random?: () => number
}

/**
 * Tries one upstream after the other until one answers: first those that are well, each in turn, then those that rest, then
 * again, after a pause, those whose failure may pass. Ends at once when the request itself is at fault or the client is gone.
 */
export function attemptRoutes<Candidate extends Attemptable, Answer>(
  options: AttemptRoutesOptions<Candidate, Answer>,
): Promise<Answer> {
  return new RouteAttempts(options).run()
}

/** What came of one candidate so far. */
interface Trial<Candidate> {
  readonly candidate: Candidate
  /** Asked to see whether it is well again, or for want of another: once is enough. */
  readonly isSingle: boolean
  tries: number
  pauseMs: number
  /** Its last failure was its own fault, and is told to the breaker when the request is over. */
  hasFailed: boolean
}

class RouteAttempts<Candidate extends Attemptable, Answer> {
  readonly #options: AttemptRoutesOptions<Candidate, Answer>
  readonly #attemptsMax: number
  #attempts = 0
  /** How many of the candidates were looked at. */
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

  /** No upstream is left alone when there is no other: the one whose rest ends first is asked. */
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

  /** Throws what no other attempt would change. */
  #noteFailure(trial: Trial<Candidate>, error: unknown): void {
    const { random = Math.random, accountId, cancellation } = this.#options
    const isUpstreams = error instanceof UpstreamError && isUpstreamAtFault(error)
    if (!isUpstreams) trial.candidate.breaker?.abandoned(accountId)
    else if (trial.isSingle) trial.candidate.breaker?.failed(accountId)
    trial.hasFailed = isUpstreams && !trial.isSingle
    if (error instanceof UpstreamError) {
      // Nobody waits for another try.
      cancellation.throwIfCancelled()
      if (error.isRequestAtFault || error.details.failure === 'local') throw error
      const pauseMs = pauseBeforeRetry(error, trial.tries, random)
      if (pauseMs !== null && !trial.isSingle) this.#again.push(Object.assign(trial, { pauseMs }))
    } else if (!isQueueFull(error)) {
      throw error
    }
    this.#lastError = error
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

/** A refusal of this request, of our credential or for now, and our own want, say nothing about whether the upstream is well. */
function isUpstreamAtFault({ details }: UpstreamError): boolean {
  if (details.failure !== 'status') return details.failure !== 'local'
  const { status = 0 } = details
  return status >= 500 && status !== 501 && status !== 529
}

/** Another upstream may have room. */
function isQueueFull(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'queue_full'
}
