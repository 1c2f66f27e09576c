import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { addCounts, countDuration, percentileOf, type DurationCounts } from './duration-counts.ts'

const durations = fc.array(fc.double({ min: 1, max: 3_600_000, noNaN: true }), {
  minLength: 1,
  maxLength: 200,
})
const countAll = (all: readonly number[]): DurationCounts => {
  const counts: DurationCounts = []
  for (const one of all) countDuration(counts, one)
  return counts
}

test('a percentile differs from the exact one by at most 10 %', () => {
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99), (all, share) => {
      const sorted = all.toSorted((a, b) => a - b)
      const exact = sorted[Math.ceil(share * all.length) - 1] ?? 0
      const ratio = (percentileOf(countAll(all), share) ?? 0) / exact
      expect(ratio).toBeGreaterThan(0.9)
      expect(ratio).toBeLessThan(1.1)
    }),
  )
})

test('the sum of the counts of two processes equals the counts of all durations', () => {
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const sum = countAll(some)
      addCounts(sum, countAll(others))
      expect(sum).toEqual(countAll([...some, ...others]))
    }),
  )
})

test('empty counts have no percentile, and invalid or huge durations go into the first or last bucket', () => {
  expect(percentileOf([], 0.5)).toBeNull()
  const counts = countAll([0, -5, Number.NaN, 1e12])
  expect([counts[0], counts.length]).toEqual([3, 88])
})
