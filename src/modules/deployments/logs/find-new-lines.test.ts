import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findNewLines } from './find-new-lines.ts'

test('returns the lines added after the last known lines', () => {
  expect(findNewLines([], ['a', 'b'])).toEqual(['a', 'b'])
  expect(findNewLines(['a', 'b'], ['a', 'b'])).toEqual([])
  expect(findNewLines(['a', 'b'], ['a', 'b', 'c'])).toEqual(['c'])
  expect(findNewLines(['a', 'b', 'c'], ['b', 'c', 'd'])).toEqual(['d'])
  expect(findNewLines(['a', 'b'], ['x', 'y'])).toEqual(['x', 'y'])
  expect(findNewLines(['a'], [])).toEqual([])
})

test('returns every line of a log once, whatever the number of lines per read', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 20 }),
      (log, paces) => {
        const window = 8
        const said: string[] = []
        let seen: readonly string[] = []
        let end = 0
        for (const pace of [...paces, ...Array.from({ length: 60 }, () => 1)]) {
          end = Math.min(log.length, end + pace)
          const tail = log.slice(Math.max(0, end - window), end)
          said.push(...findNewLines(seen, tail))
          seen = tail
        }
        expect(said).toEqual(log)
      },
    ),
  )
})

test('returns only the additional lines if all lines are equal', () => {
  const same = (count: number) => Array.from({ length: count }, () => 'tick')
  expect(findNewLines(same(5), same(5))).toEqual([])
  expect(findNewLines(same(5), same(7))).toEqual(['tick', 'tick'])
})
