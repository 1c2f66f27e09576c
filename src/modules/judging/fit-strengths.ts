const ROUNDS_MAX = 200
/** Of a strength, in one round: what is smaller is not seen in any rating. */
const CHANGE_MIN = 1e-6
/**
 * Before the first vote, everybody has tied with the others this often in all. Without it, who won every time would be infinitely
 * strong, and two who met nobody in common could not be compared.
 */
const PRIOR_TIES = 1

/** Who beat whom how often, row by row; a tie is half a win for both. */
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
 * The strengths of the Bradley–Terry model, by Hunter's minorisation–maximisation: one beats another with the share that its strength has
 * of both. Their geometric mean is one. A first guess saves rounds and changes nothing else.
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
