import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCatalog, priceTokens, type CatalogModel } from '../../catalog/catalog.ts'
import { estimateChat, outputTokensCovered } from './estimate-cost.ts'
import { asksForHourCache, boundHourCache } from './hour-cache.ts'

test.each([
  ['{"cache_control":{"type":"ephemeral","ttl":"1h"}}', true],
  [String.raw`{"cache_control":{"ttl":"\u0031h"}}`, true],
  [String.raw`{"cache_control":{"ttl":"1\u0068"}}`, true],
  ['{"cache_control":{"ttl":"5m"}}', false],
  [JSON.stringify({ content: 'wait "1h" for it' }), false],
  [JSON.stringify({ content: 'in 1h' }), false],
])('%s asks for an hour cache: %s', (text, asks) => {
  expect(asksForHourCache(text)).toBe(asks)
})

const [base] = createCatalog({ now: () => 0 }).list({ category: 'llm' })
const rate = fc.bigInt({ min: 1n, max: 100_000_000_000n })
const price = fc
  .record({
    inputNanoUsdPer1m: rate,
    cachedInputNanoUsdPer1m: rate,
    cacheWriteNanoUsdPer1m: rate,
    cacheWriteHourNanoUsdPer1m: rate,
    outputNanoUsdPer1m: rate,
  })
  .map((rates) => ({ unit: 'token' as const, ...rates, longContext: [] }))
const body = fc.record({
  model: fc.constant('m'),
  messages: fc.array(fc.record({ role: fc.constant('user'), content: fc.string({ maxLength: 400 }) })),
  max_tokens: fc.integer({ min: 1, max: 10_000 }),
  n: fc.integer({ min: 1, max: 4 }),
})

test('the hold covers a prompt that is completely written to a cache, for an hour if requested', () => {
  fc.assert(
    fc.property(price, body, fc.double({ min: 0, max: 1, noNaN: true }), (prices, asked, hour) => {
      if (base === undefined) throw new Error('the catalog has no language model')
      const model: CatalogModel = { ...base, price: prices }
      const worst = estimateChat(model, asked, Buffer.byteLength(JSON.stringify(asked)))
      const { promptTokensMax: promptTokens, outputTokensMax, choices } = worst
      const cost = (hourTokens: number, outputTokens: number) =>
        priceTokens(prices, {
          promptTokens,
          cachedTokens: 0,
          cacheWriteTokens: promptTokens,
          cacheWriteHourTokens: hourTokens,
          completionTokens: outputTokens * choices,
        })
      expect(cost(0, outputTokensMax)).toBeLessThanOrEqual(worst.wantedNanoUsd)
      const held = boundHourCache(worst, '{"ttl":"1h"}')
      const hourTokens = Math.floor(promptTokens * hour)
      expect(cost(hourTokens, outputTokensMax)).toBeLessThanOrEqual(held.wantedNanoUsd)
      const shortened = outputTokensCovered(held, held.leastNanoUsd)
      expect(cost(hourTokens, shortened)).toBeLessThanOrEqual(held.leastNanoUsd)
    }),
  )
})
