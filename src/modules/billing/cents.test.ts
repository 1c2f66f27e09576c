import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { centsFromNanoUsd, nanoUsdFromCents } from './cents.ts'

test('cents are converted to nano-dollars and back without loss', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (cents) => {
      expect(centsFromNanoUsd(nanoUsdFromCents(cents))).toBe(cents)
    }),
  )
})

test('an amount finer than a cent is not rounded', () => {
  expect(centsFromNanoUsd(10_000_001n)).toBeNull()
})
