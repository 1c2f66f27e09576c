import { expect, test } from 'vitest'
import { fairLevel } from './fair-level.ts'

test('accounts that want less than their part leave the rest to the others', () => {
  expect(fairLevel([10, 1_000, 1_000], 210)).toBe(100)
  expect(fairLevel([1_000, 10, 30, 1_000], 100)).toBe(30)
})

test('equal accounts get equal parts', () => {
  expect(fairLevel([500, 500, 500, 500], 100)).toBe(25)
})

test('nobody is limited below what all want together', () => {
  expect(fairLevel([10, 20, 30], 100)).toBe(100)
  expect(fairLevel([], 100)).toBe(100)
})
