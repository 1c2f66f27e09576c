/**
 * Krippendorff's alpha for nominal values: 1 if all agree, 0 if they agree as often as by chance, below 0 if less. Each unit has the
 * values that the observers gave it; an observer may miss any unit. Null if no unit has two values, or if all values are the same,
 * because then chance agrees as well.
 */
export function krippendorffAlpha(units: readonly (readonly string[])[]): number | null {
  const pairable = units.filter(({ length }) => length > 1)
  const totals = new Map<string, number>()
  let valuesTotal = 0
  let agreeing = 0
  for (const values of pairable) {
    const counts = countValues(values)
    valuesTotal += values.length
    for (const [value, count] of counts) {
      totals.set(value, (totals.get(value) ?? 0) + count)
      // Each value is paired with the others of its unit. The weight makes a unit count as many times as it has values.
      agreeing += (count * (count - 1)) / (values.length - 1)
    }
  }
  const sameByChance = [...totals.values()].reduce((sum, count) => sum + count * (count - 1), 0)
  const pairs = valuesTotal * (valuesTotal - 1)
  if (sameByChance === pairs) return null
  const observed = (valuesTotal - agreeing) / valuesTotal
  const expected = (pairs - sameByChance) / pairs
  return 1 - observed / expected
}

/** The share of the pairs of values of the same unit that are equal. Null without a pair. */
export function pairwiseAgreement(units: readonly (readonly string[])[]): number | null {
  let pairs = 0
  let equal = 0
  for (const values of units) {
    pairs += (values.length * (values.length - 1)) / 2
    for (const count of countValues(values).values()) equal += (count * (count - 1)) / 2
  }
  return pairs === 0 ? null : equal / pairs
}

function countValues(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
