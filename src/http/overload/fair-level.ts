/**
 * Returns the level up to which every account may fill its demand so that all together have at most `units` (max-min fairness): who
 * wants less than the level gets all of it, and all others get the same.
 */
export function fairLevel(demands: readonly number[], units: number): number {
  const ascending = Float64Array.from(demands).sort()
  let rest = units
  let accounts = ascending.length
  for (const demand of ascending) {
    if (demand * accounts > rest) return rest / accounts
    rest -= demand
    accounts -= 1
  }
  return units
}
