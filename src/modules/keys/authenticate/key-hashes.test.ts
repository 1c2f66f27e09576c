import { expect, test } from 'vitest'
import { createKeyToken, hashKey } from '../key-form.ts'
import { KeyHashes } from './key-hashes.ts'

test('each key has its own hash, whichever keys were sent before on the connection', () => {
  const hashes = new KeyHashes()
  const [first, second] = [createKeyToken('live'), createKeyToken('live')]
  const [one, other] = [{}, {}]
  for (const token of [first, first, second, first]) {
    for (const connection of [one, other, undefined]) {
      expect(hashes.find(token, connection)).toBe(hashKey(token))
    }
    expect(hashes.find(second, one)).toBe(hashKey(second))
  }
})

test('text that is not a key has no hash, before and after a key', () => {
  const hashes = new KeyHashes()
  const connection = {}
  expect(hashes.find('no key', connection)).toBeNull()
  expect(hashes.find(createKeyToken('dev'), connection)).not.toBeNull()
  expect(hashes.find('no key', connection)).toBeNull()
  expect(hashes.find('', connection)).toBeNull()
})
