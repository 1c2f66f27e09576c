/** What making one value may take. A schema is a stranger's: a kilobyte of it can ask for seconds of work. */
export interface WorkBudget {
  valuesLeft: number
  /** Of texts and names. */
  charactersLeft: number
  /** Of patterns and of schemas that are put together. */
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
