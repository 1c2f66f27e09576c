import { array, assert, constantFrom, integer, property } from 'fast-check'
import { expect, test } from 'vitest'

import { createEventBound } from './event-bound.ts'

function isExceeded(eventBytesMax: number, chunks: readonly string[]): boolean {
  const bound = createEventBound(eventBytesMax)
  return chunks.some((chunk) => bound.isExceededBy(Buffer.from(chunk)))
}

test('small events never add up, however the stream is split into chunks', () => {
  assert(
    property(
      array(constantFrom('data: abc\n\n', 'event: x\r\ndata: abc\r\n\r\n', ': ping\n\n'), { maxLength: 40 }),
      integer({ min: 1, max: 30 }),
      (events, chunkBytes) => {
        const text = events.join('')
        const chunks: string[] = []
        for (let at = 0; at < text.length; at += chunkBytes) chunks.push(text.slice(at, at + chunkBytes))
        expect(isExceeded(32, chunks)).toBe(false)
      },
    ),
  )
})

test('an event over the limit is detected, in one chunk or in many, in one line or in many', () => {
  const long = `data: ${'x'.repeat(100)}`
  expect(isExceeded(32, [long])).toBe(true)
  expect(isExceeded(32, long.match(/.{1,7}/g) ?? [])).toBe(true)
  expect(isExceeded(32, ['data: a\n'.repeat(10)])).toBe(true)
  expect(isExceeded(32, ['data: a\n\n', long])).toBe(true)
})
