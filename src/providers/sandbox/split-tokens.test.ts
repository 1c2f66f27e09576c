import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { countTokens } from '../../kernel/count-tokens.ts'
import { splitTokens } from './split-tokens.ts'

test('pieces put together are the text, and their tokens its count', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const pieces = splitTokens(text)
      expect(pieces.map((piece) => piece.text).join('')).toBe(text)
      expect(pieces.reduce((sum, piece) => sum + piece.tokenCount, 0)).toBe(countTokens(text))
    }),
  )
})

test('no piece ends within a character', () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-composite' }), (text) => {
      const boundaries = new Set(Array.from(segmenter.segment(text), ({ index }) => index)).add(text.length)
      let end = 0
      for (const piece of splitTokens(text)) {
        end += piece.text.length
        expect(piece.text.isWellFormed()).toBe(true)
        expect(boundaries.has(end)).toBe(true)
      }
    }),
  )
})

test('a family of four in one emoji is one piece', () => {
  expect(splitTokens('👩‍👩‍👧‍👦🇫🇷').map(({ text }) => text)).toEqual(['👩‍👩‍👧‍👦', '🇫🇷'])
})

test('half a surrogate pair is replaced rather than lost', () => {
  expect(
    splitTokens('a\ud83d')
      .map(({ text }) => text)
      .join(''),
  ).toBe('a\ufffd')
})
