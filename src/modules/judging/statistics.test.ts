import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bootstrapInterval, meanOf } from './bootstrap-interval.ts'
import { percentile } from './percentile.ts'
import { createRandom, shuffle } from '../../kernel/seeded-random.ts'

// No negative zero, because comparisons treat it differently: some as less than zero, some as equal.
const value = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((number) => number + 0)
const values = fc.array(value, { minLength: 1, maxLength: 50 })
const seeds = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

describe('percentile', () => {
  test('interpolates between neighbours', () => {
    expect(percentile([10, 20, 30, 40], 0.5)).toBe(25)
    expect(percentile([1, 2, 3, 4, 5], 0.95)).toBeCloseTo(4.8)
    expect(percentile([7], 0.95)).toBe(7)
    expect(percentile([], 0.5)).toBeNull()
  })

  test('is never outside of the values, grows with the share, and reaches both ends', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
        const sorted = Float64Array.from(list).sort()
        const [least, found, most] = [0, share, 1].map((at) => percentile(sorted, at) ?? NaN)
        expect([least, most]).toEqual([sorted[0], sorted.at(-1)])
        expect(found).toBeGreaterThanOrEqual(least ?? NaN)
        expect(found).toBeLessThanOrEqual(most ?? NaN)
      }),
    )
  })
})

describe('draws', () => {
  test('are the same for the same seed, and cover their range evenly', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 100 }), (seed, count) => {
        const [one, other] = [createRandom(seed), createRandom(seed)]
        for (let index = 0; index < 20; index += 1) {
          const drawn = one.below(count)
          expect(drawn).toBe(other.below(count))
          expect(drawn >= 0 && drawn < count).toBe(true)
        }
      }),
    )
    const random = createRandom(5)
    const mean = meanOf(Array.from({ length: 10_000 }, () => random.next()))
    expect(mean).toBeCloseTo(0.5, 1)
  })

  test('shuffle without losing anything, with every order equally likely', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), seeds, (items, seed) => {
        const sort = (list: number[]) => list.toSorted((one, other) => one - other)
        expect(sort(shuffle(items, createRandom(seed)))).toEqual(sort(items))
      }),
    )
    const orders = new Map<string, number>()
    for (let seed = 0; seed < 6_000; seed += 1) {
      const order = shuffle(['a', 'b', 'c'], createRandom(seed)).join('')
      orders.set(order, (orders.get(order) ?? 0) + 1)
    }
    expect(orders.size).toBe(6)
    for (const count of orders.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150)
  })
})

describe('a bootstrap interval', () => {
  test('is the same for the same seed, is within the values, and is a point if they are all equal', () => {
    fc.assert(
      fc.property(values, seeds, (list, seed) => {
        const interval = bootstrapInterval(list, { seed, resamples: 50 })
        expect(bootstrapInterval(list, { seed, resamples: 50 })).toEqual(interval)
        expect(interval === null).toBe(list.length < 2)
        if (interval === null) return
        const { low, high } = interval
        const slack = 1e-6
        expect(low).toBeLessThanOrEqual(high)
        expect(low).toBeGreaterThanOrEqual(Math.min(...list) - slack)
        expect(high).toBeLessThanOrEqual(Math.max(...list) + slack)
      }),
      { numRuns: 50 },
    )
    expect(bootstrapInterval([3, 3, 3], { seed: 1 })).toEqual({ low: 3, high: 3 })
  })

  test('contains the true mean about nineteen times of twenty', () => {
    const random = createRandom(11)
    let held = 0
    for (let round = 0; round < 200; round += 1) {
      const sample = Array.from({ length: 60 }, () => random.next())
      const { low = 1, high = 0 } = bootstrapInterval(sample, { seed: round, resamples: 300 }) ?? {}
      if (low <= 0.5 && high >= 0.5) held += 1
    }
    expect(held).toBeGreaterThanOrEqual(180)
    expect(held).toBeLessThan(200)
  })

  test('accepts another statistic than the mean', () => {
    const list = [...Array.from({ length: 50 }, (_, index) => index), 100_000]
    const median = (sample: Float64Array) => percentile(sample.sort(), 0.5) ?? NaN
    const { high = NaN } = bootstrapInterval(list, { seed: 1, statistic: median }) ?? {}
    expect(high).toBeLessThan(50)
  })
})
