/** How long a request waits for credit that running requests hold. */
const HOLD_WAIT_MS = 250
/** How long a request waits for the other processes to give credit back. */
export const RECALL_MS_MAX = 350

/** How often budgets may change while one request asks for credit. */
const BEGINNINGS_MAX = 50

interface CreditWaitOptions {
  /** When the request first asked for credit, by `performance.now()`. */
  readonly sinceMs?: number | undefined
  /** False if the caller prefers a smaller hold now to waiting for running requests. */
  readonly isPatient?: boolean | undefined
  readonly holdWaitMs?: number | undefined
}

/** Limits how long one request waits for credit, over all its attempts: at most one second. */
export class CreditWait {
  readonly #sinceMs: number
  readonly #holdWaitMs: number
  readonly #isPatient: boolean
  #recalls = 0
  #beginnings = 0

  constructor({
    sinceMs = performance.now(),
    isPatient = true,
    holdWaitMs = HOLD_WAIT_MS,
  }: CreditWaitOptions) {
    this.#sinceMs = sinceMs
    this.#holdWaitMs = holdWaitMs
    this.#isPatient = isPatient
  }

  /** Whether to ask again from the beginning, because budgets changed in between. */
  mayBeginAgain(): boolean {
    this.#beginnings += 1
    return this.#beginnings <= BEGINNINGS_MAX
  }

  /** Whether the wait for running requests has ended. */
  get isOver(): boolean {
    return performance.now() > this.#sinceMs + (this.#isPatient ? this.#holdWaitMs : 0)
  }

  /**
   * Whether to recall idle credit from other processes: once at the start, and once at the end for what they borrowed meanwhile.
   * A recall by any request that started after the wait counts as the second one. If the other processes answer slowly, the
   * first recall is enough.
   */
  mayRecall(lastRecallMs: number): boolean {
    if (this.#recalls >= (this.isOver ? 2 : 1)) return false
    const endsAtMs = this.#sinceMs + this.#holdWaitMs
    const isSlow = performance.now() >= endsAtMs && lastRecallMs >= this.#sinceMs
    if (isSlow && performance.now() - lastRecallMs >= RECALL_MS_MAX) return false
    return lastRecallMs < endsAtMs
  }

  /** Runs the recall and returns its start time. */
  async recall(perform: () => Promise<void>): Promise<number> {
    this.#recalls += 1
    const beganMs = performance.now()
    await perform()
    return beganMs
  }

  /** How long the next wait for a change may take. */
  get stepMs(): number {
    return Math.min(WAIT_STEP_MS, this.#holdWaitMs)
  }
}

const WAIT_STEP_MS = 100
