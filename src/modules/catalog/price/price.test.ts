import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TokenPrice } from '../catalog-model.ts'
import { priceTokens, type TokenCounts } from './price.ts'

const count = fc.integer({ min: 0, max: 2_000_000 })
const rate = fc.bigInt({ min: 0n, max: 100_000_000_000n })

const flatPrice: fc.Arbitrary<TokenPrice> = fc
  .record({ inputNanoUsdPer1m: rate, outputNanoUsdPer1m: rate, discount: fc.bigInt({ min: 0n, max: 100n }) })
  .map(({ discount, ...rates }) => ({
    unit: 'token',
    ...rates,
    cachedInputNanoUsdPer1m: (rates.inputNanoUsdPer1m * discount) / 100n,
    longContext: [],
  }))

const cachePrice = fc
  .record({
    inputNanoUsdPer1m: rate,
    cachedInputNanoUsdPer1m: rate,
    cacheWriteNanoUsdPer1m: rate,
    cacheWriteHourNanoUsdPer1m: rate,
  })
  .map((rates) => ({ unit: 'token' as const, ...rates, outputNanoUsdPer1m: 0n, longContext: [] }))

const counts: fc.Arbitrary<TokenCounts> = fc
  .record({ promptTokens: count, completionTokens: count, cachedShare: fc.integer({ min: 0, max: 100 }) })
  .map(({ promptTokens, completionTokens, cachedShare }) => ({
    promptTokens,
    completionTokens,
    cachedTokens: Math.floor((promptTokens * cachedShare) / 100),
  }))

const MILLION = 1_000_000n

/** Returns the exact price in millionths of a nano-USD, before rounding. */
function exactNumerator(
  price: TokenPrice,
  { promptTokens, cachedTokens, completionTokens }: TokenCounts,
): bigint {
  return (
    BigInt(promptTokens) * price.inputNanoUsdPer1m -
    BigInt(cachedTokens) * (price.inputNanoUsdPer1m - price.cachedInputNanoUsdPer1m) +
    BigInt(completionTokens) * price.outputNanoUsdPer1m
  )
}

describe('the price of tokens', () => {
  test('charges cache writes at their own rate, limited to the prompt', () => {
    const price: TokenPrice = {
      unit: 'token',
      inputNanoUsdPer1m: 1_000_000n,
      cachedInputNanoUsdPer1m: 100_000n,
      cacheWriteNanoUsdPer1m: 1_250_000n,
      outputNanoUsdPer1m: 0n,
      longContext: [],
    }
    const used = { promptTokens: 1000, cachedTokens: 200, completionTokens: 0 }
    expect(priceTokens(price, { ...used, cacheWriteTokens: 400 })).toBe(400n + 20n + 500n)
    expect(priceTokens(price, { ...used, cacheWriteTokens: 5000 })).toBe(20n + 1000n)
    const { cacheWriteNanoUsdPer1m: _write, ...plain } = price
    expect(priceTokens(plain, { ...used, cacheWriteTokens: 400 })).toBe(820n)
  })

  test('is the exact amount rounded up to a nano-dollar', () => {
    fc.assert(
      fc.property(flatPrice, counts, (price, used) => {
        const charged = priceTokens(price, used)
        const exact = exactNumerator(price, used)
        expect(charged * MILLION).toBeGreaterThanOrEqual(exact)
        expect(charged * MILLION - exact).toBeLessThan(MILLION)
      }),
    )
  })

  test('is never negative, and zero for zero tokens', () => {
    fc.assert(
      fc.property(flatPrice, counts, (price, used) => {
        expect(priceTokens(price, used)).toBeGreaterThanOrEqual(0n)
        expect(priceTokens(price, { promptTokens: 0, cachedTokens: 0, completionTokens: 0 })).toBe(0n)
      }),
    )
  })

  test('never falls if more tokens are used, and never rises if more of them were cached', () => {
    fc.assert(
      fc.property(flatPrice, counts, count, (price, used, more) => {
        const charged = priceTokens(price, used)
        const { promptTokens, completionTokens } = used
        expect(priceTokens(price, { ...used, promptTokens: promptTokens + more })).toBeGreaterThanOrEqual(
          charged,
        )
        expect(
          priceTokens(price, { ...used, completionTokens: completionTokens + more }),
        ).toBeGreaterThanOrEqual(charged)
        expect(priceTokens(price, { ...used, cachedTokens: promptTokens })).toBeLessThanOrEqual(charged)
      }),
    )
  })

  test('the price of tokens of two requests equals that of both together, except for one rounding', () => {
    fc.assert(
      fc.property(flatPrice, counts, counts, (price, first, second) => {
        const together = priceTokens(price, {
          promptTokens: first.promptTokens + second.promptTokens,
          cachedTokens: first.cachedTokens + second.cachedTokens,
          completionTokens: first.completionTokens + second.completionTokens,
        })
        const apart = priceTokens(price, first) + priceTokens(price, second)
        expect(apart - together).toBeGreaterThanOrEqual(0n)
        expect(apart - together).toBeLessThanOrEqual(1n)
      }),
    )
  })

  test('counts every token of a prompt once, at one of the four rates, whatever an upstream reports', () => {
    fc.assert(
      fc.property(cachePrice, count, count, count, count, (price, promptTokens, read, written, hour) => {
        const charged = priceTokens(price, {
          promptTokens,
          cachedTokens: read,
          cacheWriteTokens: written,
          cacheWriteHourTokens: hour,
          completionTokens: 0,
        })
        const rates = [
          price.inputNanoUsdPer1m,
          price.cachedInputNanoUsdPer1m,
          price.cacheWriteNanoUsdPer1m,
          price.cacheWriteHourNanoUsdPer1m,
        ].toSorted((left, right) => (left < right ? -1 : 1))
        const [cheapest = 0n] = rates
        const dearest = rates.at(-1) ?? 0n
        expect(charged * MILLION).toBeGreaterThanOrEqual(BigInt(promptTokens) * cheapest)
        expect(charged * MILLION).toBeLessThan(BigInt(promptTokens) * dearest + MILLION)
      }),
    )
  })

  test('the price of tokens of a split prompt is the sum of its parts at their own rates', () => {
    fc.assert(
      fc.property(cachePrice, count, count, count, count, (price, plain, read, minutes, hour) => {
        const charged = priceTokens(price, {
          promptTokens: plain + read + minutes + hour,
          cachedTokens: read,
          cacheWriteTokens: minutes + hour,
          cacheWriteHourTokens: hour,
          completionTokens: 0,
        })
        const exact =
          BigInt(plain) * price.inputNanoUsdPer1m +
          BigInt(read) * price.cachedInputNanoUsdPer1m +
          BigInt(minutes) * price.cacheWriteNanoUsdPer1m +
          BigInt(hour) * price.cacheWriteHourNanoUsdPer1m
        expect(charged).toBe((exact + MILLION - 1n) / MILLION)
      }),
    )
  })

  const price: TokenPrice = {
    unit: 'token',
    inputNanoUsdPer1m: 5_000_000_000n,
    cachedInputNanoUsdPer1m: 500_000_000n,
    outputNanoUsdPer1m: 30_000_000_000n,
    longContext: [
      {
        aboveTokens: 272_000,
        inputNanoUsdPer1m: 10_000_000_000n,
        cachedInputNanoUsdPer1m: 1_000_000_000n,
        outputNanoUsdPer1m: 45_000_000_000n,
      },
    ],
  }

  test('counts a cached token once, at its own price', () => {
    expect(priceTokens(price, { promptTokens: 1000, cachedTokens: 400, completionTokens: 10 })).toBe(
      600n * 5000n + 400n * 500n + 10n * 30_000n,
    )
  })

  test('gives no discount for more cached tokens than the prompt has', () => {
    const all = priceTokens(price, { promptTokens: 1000, cachedTokens: 1000, completionTokens: 0 })
    expect(priceTokens(price, { promptTokens: 1000, cachedTokens: 5000, completionTokens: 0 })).toBe(all)
  })

  test('is the long-context price for the whole request if the prompt is longer', () => {
    const at = (promptTokens: number) =>
      priceTokens(price, { promptTokens, cachedTokens: 0, completionTokens: 1 })
    expect(at(272_000)).toBe(272_000n * 5000n + 30_000n)
    expect(at(272_001)).toBe(272_001n * 10_000n + 45_000n)
  })

  test('refuses invalid counts', () => {
    for (const promptTokens of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => priceTokens(price, { promptTokens, cachedTokens: 0, completionTokens: 0 })).toThrow(
        RangeError,
      )
    }
  })
})
