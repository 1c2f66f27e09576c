import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatUsd, nanoUsdFromUsd, usdFromNanoUsd } from './money.ts'

describe('money', () => {
  it.each([
    [0n, '0'],
    [1n, '0.000000001'],
    [15_000n, '0.000015'],
    [1_000_000_000n, '1'],
    [10_500_000_000n, '10.5'],
    [-2_500_000_000n, '-2.5'],
    [123_456_789_012_345_678n, '123456789.012345678'],
  ])('writes %d nano-dollars as %s', (amount, text) => {
    expect(formatUsd(amount)).toBe(text)
  })

  it.each([
    [0.1, 100_000_000n],
    [3.083e-5, 30_830n],
    [1e-9, 1n],
    [10, 10_000_000_000n],
    [-0.25, -250_000_000n],
  ])('reads %d dollars exactly', (usd, amount) => {
    expect(nanoUsdFromUsd(usd)).toBe(amount)
  })

  it('refuses amounts that are finer than a nano-dollar', () => {
    expect(() => nanoUsdFromUsd(1e-10)).toThrow(RangeError)
    expect(() => nanoUsdFromUsd(Number.NaN)).toThrow(RangeError)
    expect(() => nanoUsdFromUsd(Number.POSITIVE_INFINITY)).toThrow(RangeError)
  })

  it('survives the wire unchanged for every amount below eight million dollars', () => {
    const most = 8_000_000n * 1_000_000_000n - 1n
    fc.assert(
      fc.property(fc.bigInt({ min: -most, max: most }), (amount) => {
        expect(nanoUsdFromUsd(usdFromNanoUsd(amount))).toBe(amount)
      }),
    )
  })
})
