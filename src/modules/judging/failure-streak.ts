/** More would cost money without a result; fewer could be an incident of a minute. */
const FAILURES_IN_A_ROW_MAX = 8

/** Thrown when a judge has failed so often in a row that further questions are not worth their price. */
export class JudgeKeepsFailing extends Error {
  override readonly name = 'JudgeKeepsFailing'
}

/** Counts the questions that a judge failed since its last readable answer. */
export class FailureStreak {
  #length = 0
  #firstMessage = ''

  succeed(): void {
    this.#length = 0
  }

  /** Throws `JudgeKeepsFailing` at the end of a clear run of failures. */
  fail(message: string): void {
    if (this.#length === 0) this.#firstMessage = message
    this.#length += 1
    if (this.#length >= FAILURES_IN_A_ROW_MAX)
      throw new JudgeKeepsFailing(
        `The judge failed ${this.#length} questions in a row, so it was not asked further. The first reason: ${this.#firstMessage}`,
      )
  }
}
