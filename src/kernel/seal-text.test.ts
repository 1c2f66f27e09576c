import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSealer } from './seal-text.ts'

const sealer = createSealer('a secret of the operator')

test('a sealed text opens again in its place, and shows nothing of itself', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8 }), fc.string(), (text, place) => {
      const sealed = sealer.seal(text, place)
      expect(sealed.includes(text)).toBe(false)
      expect(sealer.open(sealed, place)).toBe(text.toWellFormed())
    }),
  )
})

test('a sealed text opens neither elsewhere, nor with another key, nor changed', () => {
  const sealed = sealer.seal('hf_secret', 'one')
  expect(sealer.open(sealed, 'other')).toBeNull()
  expect(createSealer('another secret').open(sealed, 'one')).toBeNull()
  for (const index of sealed.keys()) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(sealer.open(changed, 'one')).toBeNull()
  }
  expect(sealer.open(Buffer.alloc(3), 'one')).toBeNull()
  expect(sealer.seal('hf_secret', 'one')).not.toEqual(sealed)
})
