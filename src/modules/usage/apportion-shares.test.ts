import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { apportionShares } from './apportion-shares.ts'

test('three equal parts add up to one', () => {
  expect(apportionShares([1n, 1n, 1n])).toEqual([0.333334, 0.333333, 0.333333])
})

test('all shares of zero are zero', () => {
  expect(apportionShares([])).toEqual([])
  expect(apportionShares([0n, 0n])).toEqual([0, 0])
})

test('shares add up to one, keep the order of the amounts, and are off by less than a millionth', () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt({ min: 0n, max: 10n ** 15n }), { minLength: 1, maxLength: 50 }),
      (amounts) => {
        const total = amounts.reduce((sum, amount) => sum + amount, 0n)
        fc.pre(total > 0n)
        const shares = apportionShares(amounts)
        expect(shares.reduce((sum, share) => sum + Math.round(share * 1e6), 0)).toBe(1_000_000)
        for (const [index, amount] of amounts.entries()) {
          expect(Math.abs((shares[index] ?? -1) - Number(amount) / Number(total))).toBeLessThan(1.1e-6)
          for (const [other, otherAmount] of amounts.entries()) {
            if (amount > otherAmount) expect(shares[index]).toBeGreaterThanOrEqual(shares[other] ?? 2)
          }
        }
      },
    ),
  )
})
