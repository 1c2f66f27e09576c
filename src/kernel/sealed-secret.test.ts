import { expect, test } from 'vitest'
import { createSealer } from './seal-text.ts'
import { openSecret, sealSecret } from './sealed-secret.ts'

const sealer = createSealer('the key of the gateway')
const SECRET = 'sk-of-a-vendor'

test('a sealed secret is opened for its place only, and only with the key of the gateway', () => {
  const sealed = sealSecret(sealer, SECRET, 'here')
  expect(openSecret(sealer, sealed, 'here')).toBe(SECRET)
  expect(openSecret(sealer, sealed, 'there')).toBe(null)
  expect(openSecret(createSealer('another'), sealed, 'here')).toBe(null)
  const other = sealSecret(sealer, 'another secret', 'here')
  expect(openSecret(sealer, { ...sealed, wrappedKey: other.wrappedKey }, 'here')).toBe(null)
})

test('a secret does not stand in what is stored, and the same secret is never stored the same way', () => {
  const [one, other] = [sealSecret(sealer, SECRET, 'here'), sealSecret(sealer, SECRET, 'here')]
  expect(one.sealed.includes(SECRET)).toBe(false)
  expect([one.sealed.equals(other.sealed), one.wrappedKey.equals(other.wrappedKey)]).toEqual([false, false])
})
