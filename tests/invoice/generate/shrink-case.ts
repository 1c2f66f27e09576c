import type { Case } from '../case.ts'

/** Shrinking is for the reader of a failure, so it ends after this many runs. */
const RUNS_MAX = 60

/** Returns a smaller case that still fails: each part, tool and option is left out that the failure does not need. */
export async function shrinkCase(made: Case, stillFails: (smaller: Case) => Promise<boolean>): Promise<Case> {
  let smallest = made
  let runs = 0
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const smaller of listSmaller(smallest)) {
      if (runs >= RUNS_MAX) return smallest
      runs += 1
      if (!(await stillFails(smaller))) continue
      smallest = smaller
      isSmaller = true
      break
    }
  }
  return smallest
}

/** Cases with one thing less, the largest steps first. */
function* listSmaller(made: Case): Generator<Case> {
  if (made.parts.length > 1) yield { ...made, parts: made.parts.slice(0, 1) }
  for (const parts of withoutOne(made.parts)) yield { ...made, parts }
  for (const tools of withoutOne(made.tools)) yield { ...made, tools }
  for (const options of withoutOne(made.options)) yield { ...made, options }
  if (made.words > 1) yield { ...made, words: 1 }
  if (made.end.retry !== null) yield { ...made, end: { ...made.end, retry: null } }
  if (made.end.name !== 'whole')
    yield { ...made, end: { name: 'whole', retry: null }, work: { ...made.work, pauseAfter: null } }
  if (made.outputLimit !== null) yield { ...made, outputLimit: null }
  if (made.isThinkingAsked) yield { ...made, isThinkingAsked: false }
  if (made.isStream) yield { ...made, isStream: false }
  if (made.balanceUsd !== PLAIN_BALANCE_USD) yield { ...made, balanceUsd: PLAIN_BALANCE_USD }
  yield* listPlainerWork(made)
}

const PLAIN_BALANCE_USD = 20

function* listPlainerWork(made: Case): Generator<Case> {
  const { work } = made
  if (work.outputTokens > 1) yield { ...made, work: { ...work, outputTokens: 1 } }
  if (work.thinkMs > 0) yield { ...made, work: { ...work, thinkMs: 0 } }
  if (work.cachedShare > 0) yield { ...made, work: { ...work, cachedShare: 0 } }
  if (work.reader !== 'last') yield { ...made, work: { ...work, reader: 'last' } }
  if (work.failure !== null) yield { ...made, work: { ...work, failure: null } }
}

function* withoutOne<Value>(values: readonly Value[]): Generator<Value[]> {
  for (const left of values.keys()) yield values.filter((_, index) => index !== left)
}
