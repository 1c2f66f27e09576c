import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTokenBuckets } from './token-buckets.ts'

function create() {
  const time = { nowMs: 1_000_000 }
  return { time, buckets: createTokenBuckets({ clock: { nowMs: () => time.nowMs } }) }
}

describe('createTokenBuckets', () => {
  it('gives a minute’s worth at once and then evenly', () => {
    const { time, buckets } = create()
    const taken = Array.from({ length: 4 }, () => buckets.take('a', 3))
    expect(taken).toEqual([
      { isTaken: true, remaining: 2, resetSeconds: 20 },
      { isTaken: true, remaining: 1, resetSeconds: 40 },
      { isTaken: true, remaining: 0, resetSeconds: 60 },
      { isTaken: false, retryAfterSeconds: 20, resetSeconds: 60 },
    ])
    time.nowMs += 20_000
    expect([buckets.take('a', 3).isTaken, buckets.take('a', 3).isTaken]).toEqual([true, false])
  })

  it('keeps buckets apart', () => {
    const { buckets } = create()
    expect([buckets.take('a', 1).isTaken, buckets.take('b', 1).isTaken]).toEqual([true, true])
  })

  it('follows a limit that is lowered or raised', () => {
    const { buckets, time } = create()
    buckets.take('a', 100)
    expect(buckets.take('a', 1).isTaken).toBe(true)
    expect(buckets.take('a', 1).isTaken).toBe(false)
    time.nowMs += 60_000
    expect(buckets.take('a', 600)).toMatchObject({ isTaken: true, remaining: 599 })
  })

  it('is not upset by a clock that goes back', () => {
    const { buckets, time } = create()
    buckets.take('a', 1)
    time.nowMs -= 3_600_000
    expect(buckets.take('a', 1)).toEqual({ isTaken: false, retryAfterSeconds: 60, resetSeconds: 60 })
  })

  it('promises a time to wait that is true: after it there is a token, and no sooner than a second before', () => {
    const rate = fc.integer({ min: 1, max: 30 })
    const pauses = fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 60 })
    fc.assert(
      fc.property(rate, pauses, (tokensPerMinute, pausesMs) => {
        const { buckets, time } = create()
        for (const pauseMs of pausesMs) {
          time.nowMs += pauseMs
          const taken = buckets.take('a', tokensPerMinute)
          if (taken.isTaken) continue
          time.nowMs += taken.retryAfterSeconds * 1000
          expect(buckets.take('a', tokensPerMinute).isTaken).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('never gives more than a minute’s worth and what came back since', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 100 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), pauses, (tokensPerMinute, pausesMs) => {
        const { buckets, time } = create()
        const startedMs = time.nowMs
        let given = 0
        for (const pauseMs of pausesMs) {
          time.nowMs += pauseMs
          if (buckets.take('a', tokensPerMinute).isTaken) given += 1
          const earned = tokensPerMinute + ((time.nowMs - startedMs) * tokensPerMinute) / 60_000
          expect(given).toBeLessThanOrEqual(earned + 1e-6)
        }
      }),
    )
  })
})
