import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { percentileOf } from './percentile-of.ts'

const BOUNDS = [1, 2, 4]

test('a percentile lies in the bucket that holds it', () => {
  expect(percentileOf([0, 10, 0, 0], BOUNDS, 0.5)).toBe(1.5)
  expect(percentileOf([5, 0, 5, 0], BOUNDS, 0.95)).toBeCloseTo(3.8)
  expect(percentileOf([0, 0, 0, 3], BOUNDS, 0.5)).toBe(4)
  expect(percentileOf([0, 0, 0, 0], BOUNDS, 0.5)).toBeNull()
  expect(percentileOf([], BOUNDS, 0.5)).toBeNull()
})

test('a higher share has no lower percentile, and none is outside of the bounds', () => {
  const counts = fc.array(fc.nat(1000), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(counts, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
      const [low, high] = [percentileOf(given, BOUNDS, share / 2), percentileOf(given, BOUNDS, share)]
      if (low === null || high === null) return given.every((count) => count === 0)
      return low <= high && low >= 0 && high <= 4
    }),
  )
})
