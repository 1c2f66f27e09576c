import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { countTokens } from '../../../kernel/tokens/count-tokens.ts'
import { splitTokens } from './split-tokens.ts'

const noTurns = async () => {}

test('the pieces add up to the text, and their tokens to its count', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
      const pieces = await splitTokens(text, noTurns)
      expect(pieces.map((piece) => piece.text).join('')).toBe(text)
      expect(pieces.reduce((sum, piece) => sum + piece.tokenCount, 0)).toBe(countTokens(text))
    }),
  )
})

test('no piece ends within a character', async () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme-composite' }), async (text) => {
      const boundaries = new Set(Array.from(segmenter.segment(text), ({ index }) => index)).add(text.length)
      let end = 0
      for (const piece of await splitTokens(text, noTurns)) {
        end += piece.text.length
        expect(piece.text.isWellFormed()).toBe(true)
        expect(boundaries.has(end)).toBe(true)
      }
    }),
  )
})

test('a family of four in one emoji is one piece', async () => {
  expect((await splitTokens('👩‍👩‍👧‍👦🇫🇷', noTurns)).map(({ text }) => text)).toEqual(['👩‍👩‍👧‍👦', '🇫🇷'])
})

test('half a surrogate pair is replaced, not lost', async () => {
  expect((await splitTokens('a\ud83d', noTurns)).map(({ text }) => text).join('')).toBe('a\ufffd')
})
