import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTokens } from '../../../kernel/tokens/count-tokens.ts'
import { leastTokens } from './least-tokens.ts'

describe('the lower bound of tokens', () => {
  it('is the exact count of short texts', () => {
    expect(leastTokens(['Hello there', '', 'Once upon a time'], countTokens)).toBe(
      countTokens('Hello there') + countTokens('Once upon a time'),
    )
  })

  it('is close to the count of uniform texts', () => {
    const text = 'word '.repeat(40_000)
    const least = leastTokens([text], countTokens)
    expect(least).toBeGreaterThan(39_900)
    expect(least).toBeLessThanOrEqual(40_001)
  })

  it('is never above the count of mixed texts', () => {
    const kinds = [
      'the quick brown fox ',
      '漢字と仮名',
      '0123456789',
      ' '.repeat(40),
      '{"a": [1, 2]}\n',
      '====',
    ]
    const piece = fc.record({ kind: fc.constantFrom(...kinds), times: fc.integer({ min: 1, max: 300 }) })
    fc.assert(
      fc.property(fc.array(piece, { minLength: 12, maxLength: 40 }), (pieces) => {
        const texts = pieces.map(({ kind, times }) => kind.repeat(times))
        const exact = texts.reduce((tokens, text) => tokens + countTokens(text), 0)
        expect(leastTokens(texts, countTokens)).toBeLessThanOrEqual(exact * 1.02)
      }),
      { numRuns: 40, seed: 17 },
    )
  })

  it('takes no longer for megabytes than for kilobytes', () => {
    const countedOf = (texts: readonly string[]) => {
      let counted = 0
      leastTokens(texts, (text) => {
        counted += text.length
        return text.length
      })
      return counted
    }
    expect(countedOf(['x'.repeat(20_000_000)])).toBeLessThanOrEqual(16_384)
    expect(countedOf(Array.from({ length: 100_000 }, () => 'some words'))).toBeLessThanOrEqual(16_384)
  })
})
