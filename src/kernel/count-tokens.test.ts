import { describe, expect, it } from 'vitest'
import { countTokens } from './count-tokens.ts'
import { decodeTokens } from './decode-tokens.ts'

describe('countTokens', () => {
  it.each([
    ['', 0],
    ['hello world', 2],
    ['Hello there', 2],
    ['<|endoftext|>', 7],
  ])('counts %j as %i', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens)
  })

  it('takes time in proportion to the text, also without spaces', () => {
    const startedMs = performance.now()
    expect(countTokens('a'.repeat(1_000_000))).toBeGreaterThan(100_000)
    // Uncut, this run takes minutes.
    expect(performance.now() - startedMs).toBeLessThan(20_000)
  })
})

describe('decodeTokens', () => {
  it('turns ids into text, and what is no id into nothing', () => {
    expect(decodeTokens([24912, 2375])).toBe('hello world')
    expect(decodeTokens([])).toBe('')
    expect(decodeTokens([9_999_999])).toBeNull()
  })
})
