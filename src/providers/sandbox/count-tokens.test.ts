import * as fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { loadTokenizer } from './count-tokens.ts'

const tokenizer = loadTokenizer()

test('ordinary text is counted exactly', () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 50 }), (text) => {
      expect(tokenizer.countTokens(text)).toBe(countTokens(text))
    }),
  )
})

test('text that looks like a control token is only text', () => {
  expect(tokenizer.countTokens('<|endoftext|>')).toBeGreaterThan(1)
})

test('pieces put together are the text, and their tokens its count', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const pieces = tokenizer.splitTokens(text)
      expect(pieces.map((piece) => piece.text).join('')).toBe(text)
      expect(pieces.reduce((sum, piece) => sum + piece.tokenCount, 0)).toBe(tokenizer.countTokens(text))
    }),
  )
})

test('no piece ends within a character', () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-composite' }), (text) => {
      const boundaries = new Set(Array.from(segmenter.segment(text), ({ index }) => index)).add(text.length)
      let end = 0
      for (const piece of tokenizer.splitTokens(text)) {
        end += piece.text.length
        expect(piece.text.isWellFormed()).toBe(true)
        expect(boundaries.has(end)).toBe(true)
      }
    }),
  )
})

test('a family of four in one emoji is one piece', () => {
  expect(tokenizer.splitTokens('👩‍👩‍👧‍👦🇫🇷').map(({ text }) => text)).toEqual(['👩‍👩‍👧‍👦', '🇫🇷'])
})

test('half a surrogate pair is replaced rather than lost', () => {
  expect(
    tokenizer
      .splitTokens('a\ud83d')
      .map(({ text }) => text)
      .join(''),
  ).toBe('a\ufffd')
})

test.for(['a', ' ', '\n', '人', '😀', '!', '0'])(
  'a run of 50,000 × %j is counted in linear time',
  (character) => {
    const count = tokenizer.countTokens(character.repeat(50_000))
    expect(count).toBeGreaterThan(50)
    expect(count).toBeLessThanOrEqual(200_000)
  },
)
