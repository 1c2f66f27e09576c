import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UnitPrice } from '../catalog-model.ts'
import { priceUnits, unitRate } from './price.ts'

const amount = fc.bigInt({ min: 0n, max: 10_000_000_000n })
const factor = fc.bigInt({ min: 0n, max: 10_000_000n })
const priced = (nanoUsdPerUnit: bigint, high = 1_000_000n): UnitPrice => ({
  unit: 'image',
  nanoUsdPerUnit,
  multipliers: { quality: new Map([['high', high]]) },
})

describe('the price of units', () => {
  test('is price times units times multipliers, rounded up by less than a nano-dollar', () => {
    fc.assert(
      fc.property(amount, factor, fc.integer({ min: 0, max: 100_000 }), (price, high, units) => {
        const cost = priceUnits(unitRate(priced(price, high), { quality: 'high' }), units)
        const exact = price * high * BigInt(units)
        expect(cost * 1_000_000n).toBeGreaterThanOrEqual(exact)
        expect(cost * 1_000_000n - exact).toBeLessThan(1_000_000n)
      }),
    )
  })

  test('never falls if more is made', () => {
    const seconds = fc.double({ min: 0, max: 3600, noNaN: true })
    fc.assert(
      fc.property(amount, seconds, seconds, (price, one, other) => {
        const rate = unitRate(priced(price))
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        expect(priceUnits(rate, less)).toBeLessThanOrEqual(priceUnits(rate, more))
      }),
    )
  })

  test('uses the factor 1 for a value that the catalog does not name', () => {
    expect(unitRate(priced(7n, 4_000_000n), { quality: 'auto', size: '1x1' })).toBe(unitRate(priced(7n)))
  })

  test('counts milliseconds exactly', () => {
    expect(priceUnits(unitRate(priced(1000n)), 5.04)).toBe(5040n)
  })

  test('refuses invalid numbers of units', () => {
    for (const units of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => priceUnits(1n, units)).toThrow(RangeError)
  })
})
