import { array, assert, constantFrom, integer, property } from 'fast-check'
import { expect, test } from 'vitest'

import { createEventBound } from './event-bound.ts'

function isExceeded(eventBytesMax: number, chunks: readonly string[]): boolean {
  const bound = createEventBound(eventBytesMax)
  for (const chunk of chunks) bound.take(Buffer.from(chunk))
  return bound.isExceeded
}

test('small events never add up, however the stream is split into chunks', () => {
  assert(
    property(
      array(constantFrom('data: abc\n\n', 'event: x\r\ndata: abc\r\n\r\n', ': ping\n\ndata: a\n\n'), {
        minLength: 200,
        maxLength: 300,
      }),
      integer({ min: 1, max: 30 }),
      (events, chunkBytes) => {
        const text = events.join('')
        const chunks: string[] = []
        for (let at = 0; at < text.length; at += chunkBytes) chunks.push(text.slice(at, at + chunkBytes))
        expect(isExceeded(1_500, chunks)).toBe(false)
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

test('comments and empty lines are no part of an event, however they are split into chunks', () => {
  const carries = (chunks: readonly string[]) => {
    const bound = createEventBound(1_000)
    return chunks.map((chunk) => bound.take(Buffer.from(chunk)))
  }
  expect(carries([': ping\n\n', ':', ' data: x', '\r\n', '\n', 'data: x\n\n'])).toEqual([
    false,
    false,
    false,
    false,
    false,
    true,
  ])
  expect(carries(['da', 'ta: x', '\n\n', ': x\nevent: y\n'])).toEqual([true, true, false, false])
})

test('a flood of comments exceeds the limit, however short they are', () => {
  for (const entry of [': ping\n\n', ':\n', '\n', ':', 'event: ping\n\n']) {
    expect(isExceeded(10_000, Array<string>(160).fill(entry))).toBe(true)
    expect(isExceeded(10_000, [entry.repeat(10_000)])).toBe(true)
    expect(isExceeded(10_000, Array<string>(40).fill(entry))).toBe(false)
  }
  expect(isExceeded(32, [`:${'x'.repeat(40)}`])).toBe(true)
})
