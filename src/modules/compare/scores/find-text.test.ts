import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasText } from './find-text.ts'

// Only two letters, so that long partial matches occur.
const letters = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom('a', 'b'), { minLength, maxLength }).map((units) => units.join(''))

test('the search finds the same as the engine, in texts of any length', () => {
  fc.assert(
    fc.property(letters(0, 40), letters(1, 8), letters(0, 6), (around, repeated, odd) => {
      const text = `${around}${repeated.repeat(400)}${odd}${repeated.repeat(400)}`
      const wanted = `${repeated.repeat(300)}${odd}${repeated.repeat(300)}`
      expect(hasText(text, wanted)).toBe(text.includes(wanted))
      expect(hasText(text, `${wanted}c`)).toBe(false)
      expect(hasText(text, odd)).toBe(text.includes(odd))
    }),
  )
})

test('a text with many partial matches does not take quadratic time', () => {
  const half = 'a'.repeat(500_000)
  // A naive search, which restarts at each letter, would take 250,000,000,000 steps.
  expect(hasText(half.repeat(4), `${half}b${half}`)).toBe(false)
})
