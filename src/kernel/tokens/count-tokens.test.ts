import * as fc from 'fast-check'
import { countTokens as countWithOlderPackage } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countWithPackage } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { countTokens } from './count-tokens.ts'
import { splitLongRuns } from './split-long-runs.ts'

test('ordinary text is counted exactly', () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 50 }), (text) => {
      expect(countTokens(text)).toBe(countWithPackage(text))
    }),
  )
})

/** The pre-tokens into which the encoding splits a text. Merging the bytes of a pre-token takes quadratic time in its length. */
const PRE_TOKENS =
  /[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/giu
const HOSTILE = Array.from("aZé人글\u0300ʰ0٣!/→⇒«'\u0001 \t\n\r\u00a0\u2003\u3000😀\u2028")

test('no mix of characters takes the encoder quadratic time', () => {
  const unit = fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(unit, (characters) => {
      const text = characters.join('').repeat(300)
      const segments = [...splitLongRuns(text)]
      expect(segments.join('')).toBe(text)
      const lengths = segments
        .flatMap((segment) => segment.match(PRE_TOKENS) ?? [])
        .map(({ length }) => length)
      expect(Math.max(...lengths)).toBeLessThanOrEqual(66)
    }),
    { numRuns: 2000 },
  )
})

test('text that looks like a control token counts as text', () => {
  expect(countTokens('<|endoftext|>')).toBeGreaterThan(1)
})

test.for(['a', ' ', '\n', '人', '😀', '!', '0'])(
  'a run of 50,000 × %j is counted in linear time',
  (character) => {
    const count = countTokens(character.repeat(50_000))
    expect(count).toBeGreaterThan(50)
    expect(count).toBeLessThanOrEqual(200_000)
  },
)

test('the encoding of older models is used if it is named', () => {
  expect(countTokens('Привет, мир', 'cl100k')).toBe(countWithOlderPackage('Привет, мир'))
  expect(countTokens('Привет, мир', 'cl100k')).toBeGreaterThan(countTokens('Привет, мир'))
})
