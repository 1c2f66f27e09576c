import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelPrice, TokenPrice, UnitPrice } from '../catalog-model.ts'
import { priceCounted } from '../price/counted.ts'
import { priceTokens, priceUnits, unitRate, type TokenCounts } from '../price/price.ts'
import { fromStoredPrice, toStoredPrice } from '../price/stored-price.ts'
import { adjustPrice } from './adjust-price.ts'
import { fromStoredTerms, readTerms, toStoredTerms, type PriceTerms } from './price-terms.ts'

const rate = fc.bigInt({ min: 0n, max: 100_000_000_000n })
const rates = fc.record({
  inputNanoUsdPer1m: rate,
  cachedInputNanoUsdPer1m: rate,
  cacheWriteNanoUsdPer1m: rate,
  cacheWriteHourNanoUsdPer1m: rate,
  outputNanoUsdPer1m: rate,
})
const tokenPrice: fc.Arbitrary<TokenPrice> = fc
  .record({ base: rates, audioInputNanoUsdPer1m: rate, audioOutputNanoUsdPer1m: rate, long: rates })
  .map(({ base, long, ...audio }) => ({
    unit: 'token',
    ...base,
    ...audio,
    longContext: [{ aboveTokens: 200_000, ...long }],
  }))
const unitPrice: fc.Arbitrary<UnitPrice> = fc
  .record({ nanoUsdPerUnit: rate, nanoUsdPerInputImage: rate, high: fc.bigInt({ min: 0n, max: 9_000_000n }) })
  .map(({ high, ...amounts }) => ({
    unit: 'image',
    ...amounts,
    multipliers: { quality: new Map([['high', high]]) },
  }))

const count = fc.integer({ min: 0, max: 400_000 })
const counts: fc.Arbitrary<TokenCounts> = fc.record({
  promptTokens: count,
  cachedTokens: count,
  cacheWriteTokens: count,
  cacheWriteHourTokens: count,
  audioPromptTokens: count,
  completionTokens: count,
  audioCompletionTokens: count,
})

const percent = fc.integer({ min: -1_000_000, max: 10_000_000 }).map((millionths) => millionths / 10_000)
const usd = fc.integer({ min: -50_000, max: 50_000 }).map((thousandths) => thousandths / 1_000)
const percentTerms: fc.Arbitrary<PriceTerms> = percent.map((value) => readTerms({ percent: value }))
const tokenTerms: fc.Arbitrary<PriceTerms> = fc.oneof(
  percentTerms,
  fc
    .record({ input_usd_per_1m: usd, output_usd_per_1m: usd })
    .filter(({ input_usd_per_1m: input, output_usd_per_1m: output }) => input !== 0 || output !== 0)
    .map((amounts) => readTerms({ per_unit: { unit: 'token', ...amounts } })),
)
const unitTerms: fc.Arbitrary<PriceTerms> = fc.oneof(
  percentTerms,
  usd
    .filter((amount) => amount !== 0)
    .map((amount) => readTerms({ per_unit: { unit: 'image', usd: amount } })),
)

/** Every amount of a price list. */
function amountsOf(price: ModelPrice): readonly bigint[] {
  const stored: unknown[] = []
  JSON.stringify(toStoredPrice(price), (name, value: unknown) => {
    if (typeof value === 'string' && name !== 'unit' && name !== 'trait' && name !== 'value')
      stored.push(value)
    return value
  })
  return stored.map((text) => BigInt(String(text)))
}

describe('an adjusted price list', () => {
  test('is never negative, and zero only where it was or where everything is taken off', () => {
    fc.assert(
      fc.property(fc.oneof(tokenPrice, unitPrice), percentTerms, (price, terms) => {
        const before = amountsOf(price)
        const after = amountsOf(adjustPrice(price, terms))
        expect(after.length).toBe(before.length)
        const isFree = terms.kind === 'percent' && terms.millionths === -1_000_000n
        for (const [index, amount] of after.entries()) {
          expect(amount >= 0n).toBe(true)
          const multiplierOrAmount = before[index] ?? 0n
          if (amount === 0n && multiplierOrAmount > 0n) expect(isFree).toBe(true)
        }
      }),
    )
    fc.assert(
      fc.property(tokenPrice, tokenTerms, (price, terms) => {
        expect(amountsOf(adjustPrice(price, terms)).every((amount) => amount >= 0n)).toBe(true)
      }),
    )
  })

  test('rounds each amount up, by less than a nano-dollar', () => {
    fc.assert(
      fc.property(rate, percent, (amount, value) => {
        const terms = readTerms({ percent: value })
        if (terms.kind !== 'percent') throw new Error('not a percentage')
        const price = { unit: 'request', nanoUsdPerUnit: amount } as const
        const [adjusted = 0n] = amountsOf(adjustPrice(price, terms))
        const exact = amount * (1_000_000n + terms.millionths)
        expect(adjusted * 1_000_000n >= exact && adjusted * 1_000_000n < exact + 1_000_000n).toBe(true)
      }),
    )
  })

  test('charges the most for the most expensive kind of token, so that a hold at the highest rates covers every usage', () => {
    fc.assert(
      fc.property(tokenPrice, tokenTerms, counts, (price, terms, used) => {
        const adjusted = adjustPrice(price, terms)
        if (adjusted.unit !== 'token') throw new Error('another unit')
        const all = [adjusted, ...adjusted.longContext]
        const dearest = (amounts: readonly bigint[]) => amounts.reduce((a, b) => (a > b ? a : b), 0n)
        const input = dearest([
          adjusted.audioInputNanoUsdPer1m ?? 0n,
          ...all.flatMap((one) => [
            one.inputNanoUsdPer1m,
            one.cachedInputNanoUsdPer1m,
            one.cacheWriteNanoUsdPer1m ?? 0n,
            one.cacheWriteHourNanoUsdPer1m ?? 0n,
          ]),
        ])
        const output = dearest([
          adjusted.audioOutputNanoUsdPer1m ?? 0n,
          ...all.map(({ outputNanoUsdPer1m }) => outputNanoUsdPer1m),
        ])
        const millionths = BigInt(used.promptTokens) * input + BigInt(used.completionTokens) * output
        const held = (millionths + 999_999n) / 1_000_000n
        expect(priceTokens(adjusted, used) <= held).toBe(true)
      }),
    )
  })

  test('and its terms give the same charge again from what is stored', () => {
    fc.assert(
      fc.property(tokenPrice, tokenTerms, counts, (price, terms, used) => {
        const adjusted = adjustPrice(price, terms)
        if (adjusted.unit !== 'token') throw new Error('another unit')
        const again = adjustPrice(
          fromStoredPrice(JSON.parse(JSON.stringify(toStoredPrice(price)))),
          fromStoredTerms(JSON.parse(JSON.stringify(toStoredTerms(terms)))),
        )
        const { cacheWriteHourTokens = 0, audioPromptTokens = 0, audioCompletionTokens = 0 } = used
        const counted = `t+${cacheWriteHourTokens}+${audioPromptTokens}+${audioCompletionTokens}`
        expect(priceCounted(again, counted, used)).toBe(priceTokens(adjusted, used))
      }),
    )
    fc.assert(
      fc.property(unitPrice, unitTerms, fc.integer({ min: 0, max: 10 }), (price, terms, images) => {
        const adjusted = adjustPrice(price, terms)
        if (adjusted.unit === 'token') throw new Error('another unit')
        const none = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 }
        expect(priceCounted(adjusted, `u+${images * 1_000}+0++high`, none)).toBe(
          priceUnits(unitRate(adjusted, { quality: 'high' }), images),
        )
      }),
    )
  })
})

describe('terms', () => {
  test.each([
    [{}, 'either'],
    [{ percent: 5, per_unit: { unit: 'token', input_usd_per_1m: 1 } }, 'either'],
    [{ percent: -100.0001 }, 'between'],
    [{ percent: 1_000.0001 }, 'between'],
    [{ percent: Number.NaN }, 'between'],
    [{ percent: 1.00001 }, 'four decimals'],
    [{ per_unit: { unit: 'token', usd: 1 } }, 'input_usd_per_1m'],
    [{ per_unit: { unit: 'image', input_usd_per_1m: 1 } }, 'usd'],
    [{ per_unit: { unit: 'image', usd: 0 } }, 'no amount'],
    [{ per_unit: { unit: 'image', usd: 1e-10 } }, 'nano-dollar'],
  ] as const)('%j are refused', (given, problem) => {
    expect(() => readTerms(given)).toThrow(problem)
  })

  test('keep four decimals of a percent exactly', () => {
    for (const value of [0, -100, 1_000, 12.5, 0.0001, -33.3333, 99.9999])
      expect(readTerms({ percent: value })).toEqual({
        kind: 'percent',
        millionths: BigInt(Math.round(value * 10_000)),
      })
  })
})
