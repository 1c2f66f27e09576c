import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import '../../../../tests/support/property-seed.ts'
import type { TokenPrice, UnitPrice } from '../catalog-model.ts'
import { countCharged, countInput, countUnits, packTraits, priceCounted } from './counted.ts'
import { priceTokens, priceUnits, unitRate } from './price.ts'

const count = fc.nat(2_000_000)
const rate = fc.bigInt(0n, 10n ** 12n)
const tokenPrice: fc.Arbitrary<TokenPrice> = fc.record({
  unit: fc.constant('token' as const),
  inputNanoUsdPer1m: rate,
  cachedInputNanoUsdPer1m: rate,
  cacheWriteNanoUsdPer1m: rate,
  cacheWriteHourNanoUsdPer1m: rate,
  outputNanoUsdPer1m: rate,
  audioInputNanoUsdPer1m: rate,
  audioOutputNanoUsdPer1m: rate,
  longContext: fc.constant([]),
})
const tokens = fc.record({
  promptTokens: count,
  cachedTokens: count,
  cacheWriteTokens: count,
  cacheWriteHourTokens: count,
  audioPromptTokens: count,
  completionTokens: count,
  audioCompletionTokens: count,
})
/** What the columns of a record have. */
const columnsOf = ({
  promptTokens,
  cachedTokens,
  cacheWriteTokens,
  completionTokens,
}: Parameters<typeof priceTokens>[1]) => ({
  promptTokens,
  cachedTokens,
  completionTokens,
  ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
})

test('tokens are priced again from the columns of a record and what was counted beside them', () => {
  fc.assert(
    fc.property(tokenPrice, tokens, (price, used) => {
      expect(priceCounted(price, countCharged(used), columnsOf(used))).toBe(priceTokens(price, used))
    }),
  )
})

test('units are priced again with their traits and input images, whatever a client called them', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('hd', '1K', 'a+b', ';', '%'),
  )
  const traits = fc.record({ size: name, quality: name, resolution: name, audio: name, duration: name })
  fc.assert(
    fc.property(traits, fc.nat(1_000_000), fc.nat(16), rate, (named, thousandths, images, nanoUsdPerUnit) => {
      const price: UnitPrice = {
        unit: 'second',
        nanoUsdPerUnit,
        nanoUsdPerInputImage: 7n,
        multipliers: {
          size: new Map([[named.size, 1_500_000n]]),
          quality: new Map([[`${named.quality}@${named.size}`, 3_000_000n]]),
          duration: new Map([[named.duration, 900_000n]]),
        },
      }
      const counted = countUnits(thousandths / 1000, images, packTraits([price], named))
      expect(counted).toMatch(/^[^;]*$/)
      const cost = priceUnits(unitRate(price, named), thousandths / 1000) + 7n * BigInt(images)
      if (Object.values(named).every((value) => value.isWellFormed()))
        expect(priceCounted(price, counted, columnsOf({ ...NOTHING }))).toBe(cost)
    }),
  )
})

const NOTHING = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 }
const PER_REQUEST: UnitPrice = { unit: 'request', nanoUsdPerUnit: 5n }

test('what does not suit the price list has no price', () => {
  for (const counted of ['', 'x', 't', 't+1', countInput(3), 'u', 'u+', 'u+-1', 'u+1e9', 'u+1+x', 'u+NaN'])
    expect([counted, priceCounted(PER_REQUEST, counted, NOTHING)]).toEqual([counted, null])
  expect(priceCounted(PER_REQUEST, countUnits(1), NOTHING)).toBe(5n)
  expect(priceCounted(PER_REQUEST, 'f', NOTHING)).toBe(0n)
})
