import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { currentTimestamp } from './current-timestamp.ts'

test('every time is formatted like its Date, in any order', () => {
  assert(
    property(
      integer({ min: 0, max: 4_102_444_800_000 }),
      integer({ min: 0, max: 3_000 }),
      (startMs, stepMs) => {
        for (const nowMs of [startMs, startMs + stepMs, startMs]) {
          expect(currentTimestamp(nowMs)).toBe(new Date(nowMs).toISOString())
        }
      },
    ),
  )
})
