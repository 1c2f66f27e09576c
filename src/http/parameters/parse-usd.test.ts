import { expect, test } from 'vitest'
import { parseUsd } from './parse-usd.ts'

test('an amount down to a nano-dollar is exact', () => {
  expect(parseUsd('limit_usd', 0.000000001)).toBe(1n)
  expect(parseUsd('limit_usd', 12.5)).toBe(12_500_000_000n)
})

test('an amount finer than a nano-dollar is refused by name, not rounded', () => {
  expect(() => parseUsd('limit_usd', 0.0000000001)).toThrow(
    expect.objectContaining({ code: 'invalid_value', param: 'limit_usd' }),
  )
})
