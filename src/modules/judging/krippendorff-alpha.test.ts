import { describe, expect, test } from 'vitest'
import { krippendorffAlpha, pairwiseAgreement } from './krippendorff-alpha.ts'

/** One line an observer, one character a unit; a point is a missing value. */
function unitsOf(...observers: string[]): string[][] {
  return Array.from(observers[0] ?? '', (_, unit) =>
    observers.flatMap((values) => (values[unit] === '.' ? [] : [values[unit] ?? ''])),
  )
}

describe("Krippendorff's alpha", () => {
  // K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, sections A, B and C.
  test.each([
    ['two observers and two values', ['0100000010', '1110010000'], 0.095],
    ['two observers and five values', ['aabbdcccedda', 'babbbccceddd'], 0.692],
    [
      'four observers, five values and missing ones',
      ['123321412...', '1233224125.3', '.3332342251.', '12332441251.'],
      0.743,
    ],
  ])('is as published for %s', (_, observers, expected) => {
    expect(krippendorffAlpha(unitsOf(...observers))).toBeCloseTo(expected, 3)
  })

  test('is 1 if all agree on different values, and negative if they never agree', () => {
    expect(krippendorffAlpha(unitsOf('abab', 'abab', 'ab..'))).toBe(1)
    expect(krippendorffAlpha(unitsOf('abab', 'baba'))).toBeLessThan(0)
  })

  test('is null without two values of one unit, or if all values are the same', () => {
    for (const units of [[], [['a']], [['a'], ['b']], unitsOf('aaa', 'aaa')])
      expect(krippendorffAlpha(units)).toBeNull()
  })

  test('does not depend on the order of units and observers', () => {
    const units = unitsOf('123321412...', '1233224125.3', '.3332342251.')
    const other = units.toReversed().map((values) => values.toReversed())
    expect(krippendorffAlpha(other)).toBeCloseTo(krippendorffAlpha(units) ?? NaN, 12)
  })
})

describe('the pairwise agreement', () => {
  test('is the share of equal pairs within units, and null without a pair', () => {
    expect(pairwiseAgreement([['a', 'a'], ['a', 'b'], ['a']])).toBe(0.5)
    expect(pairwiseAgreement([['a', 'a', 'b']])).toBeCloseTo(1 / 3, 12)
    expect(pairwiseAgreement([['a'], []])).toBeNull()
  })
})
