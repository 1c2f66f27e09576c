/** How long a request waits for credit that running requests hold. */
const HOLD_WAIT_MS = 300
/** How long other processes are waited for that are to give back what they do not use. */
export const RECALL_MS_MAX = 600

interface CreditWaitOptions {
  /** When the request first asked for credit, by `performance.now()`. */
  readonly sinceMs?: number | undefined
  /** False for one who would rather ask for less at once than wait for what running requests hold. */
  readonly isPatient?: boolean | undefined
  readonly holdWaitMs?: number | undefined
}

/** What one request waits for before it is told that there is no credit, however often it asks: that takes a second at most. */
export class CreditWait {
  readonly #sinceMs: number
  readonly #holdWaitMs: number
  readonly #isPatient: boolean
  #recalls = 0

  constructor({
    sinceMs = performance.now(),
    isPatient = true,
    holdWaitMs = HOLD_WAIT_MS,
  }: CreditWaitOptions) {
    this.#sinceMs = sinceMs
    this.#holdWaitMs = holdWaitMs
    this.#isPatient = isPatient
  }

  /** Whether what running requests hold is waited for no longer. */
  get isOver(): boolean {
    return performance.now() > this.#sinceMs + (this.#isPatient ? this.#holdWaitMs : 0)
  }

  /**
   * Whether other processes are to be asked once more for what lies idle there: at the beginning, and at the end for what they took
   * meanwhile. A recall that began after the wait, of whomever, counts; so does any of this request where others are slow to answer.
   */
  mayRecall(lastRecallMs: number): boolean {
    if (this.#recalls >= (this.isOver ? 2 : 1)) return false
    const endsAtMs = this.#sinceMs + this.#holdWaitMs
    const isSlow = performance.now() >= endsAtMs && lastRecallMs >= this.#sinceMs
    if (isSlow && performance.now() - lastRecallMs >= RECALL_MS_MAX) return false
    return lastRecallMs < endsAtMs
  }

  /** Does it, and gives when it began. */
  async recall(perform: () => Promise<void>): Promise<number> {
    this.#recalls += 1
    const beganMs = performance.now()
    await perform()
    return beganMs
  }

  /** How long to wait for a change now. */
  get stepMs(): number {
    return Math.min(WAIT_STEP_MS, this.#holdWaitMs)
  }
}

const WAIT_STEP_MS = 100
