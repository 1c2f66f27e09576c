import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('a bounded map keeps exactly the most recently set entries, up to its limit', () => {
  const entries = fc.array(fc.tuple(fc.nat({ max: 12 }), fc.nat()), { maxLength: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), entries, (entriesMax, sets) => {
      const map = new BoundedMap<number, number>({ entriesMax })
      let expected: [number, number][] = []
      for (const [key, value] of sets) {
        map.set(key, value)
        expected = [...expected.filter(([known]) => known !== key), [key, value] as [number, number]].slice(
          -entriesMax,
        )
      }
      const lookup = new Map(expected)
      for (let key = 0; key <= 12; key += 1) expect(map.get(key)).toBe(lookup.get(key))
    }),
  )
})

test('entries can be removed one by one, by their value, or all', () => {
  const map = new BoundedMap<string, number>({ entriesMax: 10 })
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 1],
    ['d', 3],
  ] as const)
    map.set(key, value)
  map.delete('d')
  map.deleteWhere((value) => value === 1)
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([undefined, 2, undefined, undefined])
  map.clear()
  expect(map.get('b')).toBe(undefined)
})
