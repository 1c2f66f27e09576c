import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelPrice } from '../catalog/catalog.ts'
import { boundPrice, countRerankTokens, priceRerank } from './rerank-price.ts'

const perSearch: ModelPrice = { unit: 'search', nanoUsdPerUnit: 2_000_000n }
const perRequest: ModelPrice = { unit: 'request', nanoUsdPerUnit: 5n }
const perToken: ModelPrice = {
  unit: 'token',
  inputNanoUsdPer1m: 1_000_000_000n,
  cachedInputNanoUsdPer1m: 1_000_000_000n,
  outputNanoUsdPer1m: 0n,
  longContext: [],
}
const countWords = (text: string) => text.split(' ').length
const held = (price: ModelPrice, query: string, documents: string[], members: object = {}) =>
  boundPrice(price, { query, documents, ...members }, countWords)

describe('the hold for a ranking', () => {
  test('is a search unit for each hundred documents', () => {
    const documents = (count: number) => Array.from({ length: count }, () => 'short')
    expect(held(perSearch, 'q', documents(100))).toEqual({
      wantedNanoUsd: 2_000_000n,
      leastNanoUsd: 2_000_000n,
    })
    expect(held(perSearch, 'q', documents(101)).wantedNanoUsd).toBe(4_000_000n)
    expect(held(perSearch, 'q', documents(1000)).wantedNanoUsd).toBe(20_000_000n)
  })

  test('counts the chunks of long documents, at most ten of each by default', () => {
    const documents = Array.from({ length: 100 }, () => 'x'.repeat(100_000))
    expect(held(perSearch, 'q', documents)).toEqual({ wantedNanoUsd: 20_000_000n, leastNanoUsd: 2_000_000n })
    expect(held(perSearch, 'q', documents, { max_chunks_per_doc: 20 }).wantedNanoUsd).toBe(40_000_000n)
  })

  test('is never below the minimum, and covers the charge without chunks', () => {
    const texts = fc.array(fc.string({ maxLength: 2000 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), texts, (query, documents) => {
        const { wantedNanoUsd, leastNanoUsd } = held(perSearch, query, documents)
        const use = { searchUnits: Math.ceil(documents.length / 100), tokens: null }
        expect(wantedNanoUsd).toBeGreaterThanOrEqual(leastNanoUsd)
        expect(priceRerank(perSearch, use, () => 0).priceNanoUsd).toBe(leastNanoUsd)
      }),
      { numRuns: 50 },
    )
  })

  test('is the price if it is per request or per token', () => {
    expect(held(perRequest, 'q', ['a'])).toEqual({ wantedNanoUsd: 5n, leastNanoUsd: 5n })
    expect(countRerankTokens({ query: 'a b', documents: ['c', { text: 'd e f' }] }, countWords)).toBe(8)
    expect(held(perToken, 'a b', ['c', 'd e f']).wantedNanoUsd).toBe(8000n)
  })

  test('is charged by the tokens that the upstream reported, if any', () => {
    expect(priceRerank(perToken, { searchUnits: 1, tokens: 3 }, () => 9)).toEqual({
      priceNanoUsd: 3000n,
      counted: 'p+3',
    })
    expect(priceRerank(perToken, { searchUnits: 1, tokens: null }, () => 9).priceNanoUsd).toBe(9000n)
  })
})
