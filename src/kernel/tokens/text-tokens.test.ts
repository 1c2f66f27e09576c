import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TextTokens } from './text-tokens.ts'

const countLetters = (text: string) => text.length
const add = (texts: readonly string[], options: { wholeTokensMax: number; sampleMargin: number }) => {
  let counted = 0
  const text = new TextTokens({
    ...options,
    count: (piece) => {
      counted += piece.length
      return countLetters(piece)
    },
  })
  for (const each of texts) text.add(each)
  return { tokens: text.tokens, counted }
}

describe('the tokens of many texts', () => {
  test('are exact up to the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 3000 }), { maxLength: 5 }), (texts) => {
        const { tokens } = add(texts, { wholeTokensMax: Infinity, sampleMargin: 1 })
        expect(tokens).toBe(texts.join('').length)
      }),
    )
  })

  test('are counted in bounded time, however long the texts are', () => {
    const { tokens, counted } = add(['x'.repeat(5_000_000), 'y'.repeat(5_000_000)], {
      wholeTokensMax: 4096,
      sampleMargin: 1,
    })
    expect(counted).toBeLessThan(10_000)
    expect(tokens).toBe(10_000_000)
  })

  test('lean to the densest sample if an upper bound is needed', () => {
    const { tokens } = add(['x'.repeat(100_000)], { wholeTokensMax: 10_000, sampleMargin: 1.1 })
    expect(tokens).toBeGreaterThan(108_000)
    expect(tokens).toBeLessThan(111_000)
  })

  test('are never counted from half a character', () => {
    const text = new TextTokens({
      count: (piece) => {
        expect(piece.isWellFormed()).toBe(true)
        return 1
      },
      wholeTokensMax: Infinity,
      sampleMargin: 1,
    })
    text.add(`x${'😀'.repeat(3000)}`)
    expect(text.tokens).toBeGreaterThan(5)
  })
})
