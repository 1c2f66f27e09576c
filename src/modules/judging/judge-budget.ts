import type { NanoUsd } from '../../kernel/money.ts'

/** The run has a budget that does not cover another question. */
export class BudgetReached extends Error {
  override readonly name = 'BudgetReached'

  constructor() {
    super('the budget of the run does not cover another question')
  }
}

/** What one question may still spend, over all its tries. */
export interface QuestionAmount {
  /** Null without a budget. */
  readonly leftNanoUsd: NanoUsd | null
  charge(chargedNanoUsd: NanoUsd): void
}

const UNLIMITED: QuestionAmount = { leftNanoUsd: null, charge: () => {} }

/** Keeps the judge within what the cells have left of the budget. A question is not charged more than it has reserved. */
export class JudgeBudget {
  readonly #limitNanoUsd: NanoUsd | null
  #spentNanoUsd: NanoUsd
  #questions = 0n
  #ofQuestionsNanoUsd = 0n

  constructor(limitNanoUsd: NanoUsd | null, spentNanoUsd: NanoUsd) {
    this.#limitNanoUsd = limitNanoUsd
    this.#spentNanoUsd = spentNanoUsd
  }

  /** Returns all that is left. Throws if it is less than a question usually costs. */
  reserve(): QuestionAmount {
    return this.#open(1n)
  }

  /** Returns half of what is left for each of two questions that are asked at once. */
  reserveTwo(): readonly [QuestionAmount, QuestionAmount] {
    const one = this.#open(2n)
    return [one, this.#open(2n)]
  }

  #open(parts: bigint): QuestionAmount {
    if (this.#limitNanoUsd === null) return UNLIMITED
    const shareNanoUsd = (this.#limitNanoUsd - this.#spentNanoUsd) / parts
    const usual = this.#questions === 0n ? 1n : this.#ofQuestionsNanoUsd / this.#questions
    if (shareNanoUsd <= 0n || shareNanoUsd < usual) throw new BudgetReached()
    let left = shareNanoUsd
    const note = (chargedNanoUsd: NanoUsd): void => {
      left -= chargedNanoUsd
      this.#spentNanoUsd += chargedNanoUsd
      if (chargedNanoUsd === 0n) return
      this.#questions += 1n
      this.#ofQuestionsNanoUsd += chargedNanoUsd
    }
    return {
      get leftNanoUsd() {
        return left
      },
      charge: note,
    }
  }
}
