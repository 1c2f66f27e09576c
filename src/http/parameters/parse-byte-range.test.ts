import { assert, integer, property } from 'fast-check'
import { expect, it } from 'vitest'
import { parseByteRange } from './parse-byte-range.ts'

it.each([
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=0-', { start: 0, end: 99 }],
  ['bytes=10-19', { start: 10, end: 19 }],
  ['bytes=90-1000', { start: 90, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['Bytes=5-6', { start: 5, end: 6 }],
])('%s is a part of a hundred bytes', (header, range) => {
  expect(parseByteRange(header, 100)).toEqual(range)
})

it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('%s is outside a hundred bytes', (header) => {
  expect(parseByteRange(header, 100)).toBe('unsatisfiable')
})

it.each([
  undefined,
  '',
  'bytes=',
  'bytes=-',
  'bytes=0-1,3-4',
  'items=0-1',
  'bytes=5-2',
  'bytes=a-b',
  'bytes=1',
])('%s requests the whole file', (header) => {
  expect(parseByteRange(header, 100)).toBeNull()
})

it('a part is always within the file', () => {
  const size = integer({ min: 1, max: 1_000 })
  const place = integer({ min: 0, max: 2_000 })
  assert(
    property(size, place, place, (bytes, first, last) => {
      for (const header of [`bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
        const range = parseByteRange(header, bytes)
        if (range === null || range === 'unsatisfiable') continue
        expect(range.start).toBeGreaterThanOrEqual(0)
        expect(range.end).toBeGreaterThanOrEqual(range.start)
        expect(range.end).toBeLessThan(bytes)
      }
    }),
  )
})
