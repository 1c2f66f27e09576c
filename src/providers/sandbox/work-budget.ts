/** Limits the work for one generated value. Schemas are untrusted: one kilobyte can cause seconds of work. */
export interface WorkBudget {
  valuesLeft: number
  /** Characters of texts and names. */
  charactersLeft: number
  /** Steps for patterns and for merging schemas. */
  stepsLeft: number
}

const VALUES_MAX = 5_000
const CHARACTERS_MAX = 200_000
const STEPS_MAX = 100_000

export function createWorkBudget(): WorkBudget {
  return { valuesLeft: VALUES_MAX, charactersLeft: CHARACTERS_MAX, stepsLeft: STEPS_MAX }
}

export function isSpent({ valuesLeft, charactersLeft, stepsLeft }: WorkBudget): boolean {
  return valuesLeft < 0 || charactersLeft < 0 || stepsLeft < 0
}
