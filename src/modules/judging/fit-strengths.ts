const ROUNDS_MAX = 200
/** The largest change of a strength in a round at which the fit stops. Smaller changes do not affect a rating. */
const CHANGE_MIN = 1e-6
/**
 * The number of ties, in total, that each contestant starts with against the others. Without them, a contestant that won every
 * duel would have infinite strength, and contestants without a common opponent could not be compared.
 */
const PRIOR_TIES = 1

/** The number of wins of each row against each column. A tie is half a win for both. */
export interface WinTable {
  readonly size: number
  readonly wins: Float64Array
}

export function createWinTable(size: number): WinTable {
  return { size, wins: new Float64Array(size * size) }
}

export function addDuel({ size, wins }: WinTable, winner: number, loser: number, weight: number): void {
  const index = winner * size + loser
  wins[index] = (wins[index] ?? 0) + weight
}

/**
 * Fits the strengths of the Bradley–Terry model with Hunter's minorisation–maximisation algorithm: contestant a beats b with
 * probability a / (a + b). The geometric mean of the strengths is one. A good guess saves rounds and does not change the result.
 */
export function fitStrengths({ size, wins }: WinTable, guess?: Float64Array): Float64Array {
  let strengths: Float64Array = guess ?? new Float64Array(size).fill(1)
  const met = new Float64Array(size * size)
  const won = new Float64Array(size)
  const half = PRIOR_TIES / Math.max(1, size - 1) / 2
  for (let one = 0; one < size; one += 1) {
    for (let other = 0; other < size; other += 1) {
      if (one === other) continue
      const forward = (wins[one * size + other] ?? 0) + half
      const backward = (wins[other * size + one] ?? 0) + half
      met[one * size + other] = forward + backward
      won[one] = (won[one] ?? 0) + forward
    }
  }
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const next = improve(strengths, met, won)
    const isSettled = next.every(
      (strength, index) => Math.abs(Math.log(strength / (strengths[index] ?? 1))) < CHANGE_MIN,
    )
    strengths = next
    if (isSettled) break
  }
  return strengths
}

function improve(strengths: Float64Array, met: Float64Array, won: Float64Array): Float64Array {
  const size = strengths.length
  const next = new Float64Array(size)
  let logSum = 0
  for (let one = 0; one < size; one += 1) {
    const own = strengths[one] ?? 1
    let chances = 0
    for (let other = 0; other < size; other += 1) {
      if (other !== one) chances += (met[one * size + other] ?? 0) / (own + (strengths[other] ?? 1))
    }
    const improved = chances > 0 ? (won[one] ?? 0) / chances : 1
    next[one] = improved
    logSum += Math.log(improved)
  }
  const scale = Math.exp(-logSum / Math.max(1, size))
  return next.map((strength) => strength * scale)
}
