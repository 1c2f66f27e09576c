import type { RateState } from '../limits/limits.ts'

const AT_ONCE_MAX = 64
/** Of the requests that the account may have running at once, because it may have several batches and people who wait. */
const SHARE_OF_ACCOUNT = 1 / 8
const AT_ONCE_FIRST = 16
/** While less than this part of a rate of the key is left, the rest is for requests that somebody waits for. */
const RESERVED_SHARE = 0.4
const RESERVE_PAUSE_MS = 1_000
const PAUSE_MS_MAX = 60_000
const PAUSE_MS_USUAL = 2_000
/** How often in a row credit may be missing while nothing else of the batch runs. */
const REFUSALS_MAX = 3

/**
 * How many lines of a batch may run. It grows by one each round of answers, is halved when somebody has too much to do, and leaves a
 * part of the rates of the key to others.
 */
export class LineThrottle {
  readonly #atOnceMax: number
  #atOnce: number
  #pausedUntilMs = 0
  #refusals = 0

  /** @param concurrentMax how many requests the account may have running at once. Null: no limit. */
  constructor(concurrentMax: number | null) {
    const share = concurrentMax === null ? AT_ONCE_MAX : Math.floor(concurrentMax * SHARE_OF_ACCOUNT)
    this.#atOnceMax = Math.max(1, Math.min(AT_ONCE_MAX, share))
    this.#atOnce = Math.min(AT_ONCE_FIRST, this.#atOnceMax)
  }

  /** How many lines may run at once. */
  get atOnce(): number {
    return Math.floor(this.#atOnce)
  }

  /** How long no line may begin. */
  pauseMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs)
  }

  noteAnswer(): void {
    this.#refusals = 0
    this.#atOnce = Math.min(this.#atOnceMax, this.#atOnce + 1 / this.#atOnce)
  }

  /** Somebody has too much to do. */
  slowDown(retryAfterSeconds: number | null, nowMs: number): void {
    // Lines that ran together fail together: they are one reason.
    if (this.pauseMs(nowMs) > 0) return
    this.#atOnce = Math.max(1, this.#atOnce / 2)
    this.#pause(retryAfterSeconds === null ? PAUSE_MS_USUAL : retryAfterSeconds * 1_000, nowMs)
  }

  noteRates(rates: readonly (RateState | null)[], nowMs: number): void {
    const isShort = rates.some((rate) => rate !== null && rate.remaining < rate.limit * RESERVED_SHARE)
    if (isShort) this.#pause(RESERVE_PAUSE_MS, nowMs)
  }

  /** Credit is missing while nothing else of the batch holds any. False: it will not come. */
  mayWaitForCredit(nowMs: number): boolean {
    this.#refusals += 1
    this.#pause(RESERVE_PAUSE_MS * this.#refusals, nowMs)
    return this.#refusals <= REFUSALS_MAX
  }

  #pause(pauseMs: number, nowMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.min(pauseMs, PAUSE_MS_MAX))
  }
}
