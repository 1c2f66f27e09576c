import { expect, test } from 'vitest'
import { pickToLeave } from './share-places.ts'

const NOW_MS = 1_000_000
const held = (accountId: string, ageSeconds: number, isEnding = false) => ({
  accountId,
  beganMs: NOW_MS - ageSeconds * 1_000,
  isEnding,
})

test('the oldest batch of the account with the most places makes room for an account that waits', () => {
  const oldest = held('many', 60)
  const picked = pickToLeave([held('one', 900), held('many', 20), oldest, held('many', 30)], NOW_MS)
  expect(picked).toBe(oldest)
})

test('accounts with one place each take turns', () => {
  const longest = held('a', 50)
  expect(pickToLeave([held('b', 40), longest, held('c', 30)], NOW_MS)).toBe(longest)
})

test('a batch that began a moment ago stays, and one leaves at a time', () => {
  expect(pickToLeave([held('a', 1), held('b', 14)], NOW_MS)).toBeNull()
  expect(pickToLeave([held('a', 60), held('b', 60, true)], NOW_MS)).toBeNull()
})
