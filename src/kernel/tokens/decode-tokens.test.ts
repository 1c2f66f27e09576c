import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeTokens } from './decode-tokens.ts'
import { loadTokenEncoding } from './token-encoding.ts'

const { encode, vocabulary } = loadTokenEncoding()

test('encoded text is decoded to the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(decodeTokens(encode(text))).toBe(text)
    }),
  )
})

test('an incomplete character is reported and does not leak into the next text', () => {
  const half = vocabulary.findIndex((entry) => Array.isArray(entry) && entry[0] === 0xf0)
  expect(half).toBeGreaterThan(0)
  expect(decodeTokens([half])).toBe('\ufffd')
  expect(decodeTokens(encode('plain'))).toBe('plain')
})

test.each([[[200_000_000]], [[-1]], [[1.5]], [[199_999]], [[1, 1e300]]])('%j contains no token', (tokens) => {
  expect(decodeTokens(tokens)).toBeNull()
})
