import * as fc from 'fast-check'
import { countTokens as countWithOlderPackage } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countWithPackage } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { countTokens } from './count-tokens.ts'

test('ordinary text is counted exactly', () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 50 }), (text) => {
      expect(countTokens(text)).toBe(countWithPackage(text))
    }),
  )
})

test('text that looks like a control token is only text', () => {
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

test('the encoding of older models is counted when it is named', () => {
  expect(countTokens('Привет, мир', 'cl100k')).toBe(countWithOlderPackage('Привет, мир'))
  expect(countTokens('Привет, мир', 'cl100k')).toBeGreaterThan(countTokens('Привет, мир'))
})
