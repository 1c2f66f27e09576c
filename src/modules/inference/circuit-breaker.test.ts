import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCircuitBreaker, type BreakerState } from './circuit-breaker.ts'

function create() {
  const time = { nowMs: 1_000_000 }
  const states: BreakerState[] = []
  const breaker = createCircuitBreaker({
    clock: { nowMs: () => time.nowMs },
    failuresMax: 3,
    restMs: 1_000,
    restMsMax: 4_000,
    onChange: (state) => states.push(state),
  })
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) breaker.failed()
  }
  return { time, states, breaker, fail }
}

describe('createCircuitBreaker', () => {
  it('admits everything until failures come in a row', () => {
    const { breaker, fail, states } = create()
    fail(2)
    breaker.succeeded()
    fail(2)
    expect([breaker.admit(), breaker.retryAfterMs(), states]).toEqual([true, 0, []])
  })

  it('opens after failures in a row and admits one probe after its rest', () => {
    const { breaker, fail, time, states } = create()
    fail(3)
    expect([breaker.admit(), breaker.retryAfterMs()]).toEqual([false, 1_000])
    time.nowMs += 999
    expect(breaker.admit()).toBe(false)
    time.nowMs += 1
    expect([breaker.admit(), breaker.admit()]).toEqual([true, false])
    breaker.succeeded()
    expect([breaker.admit(), breaker.admit()]).toEqual([true, true])
    expect(states).toEqual(['open', 'half-open', 'closed'])
  })

  it('rests twice as long after each failed probe, up to a bound', () => {
    const { breaker, fail, time } = create()
    fail(3)
    const rests: number[] = []
    for (let probe = 0; probe < 4; probe += 1) {
      rests.push(breaker.retryAfterMs())
      time.nowMs += breaker.retryAfterMs()
      expect(breaker.admit()).toBe(true)
      breaker.failed()
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 4_000])
  })

  it('rests no longer because of requests that were under way when it opened', () => {
    const { breaker, fail, time } = create()
    fail(100)
    expect(breaker.retryAfterMs()).toBe(1_000)
    time.nowMs += 1_000
    expect(breaker.admit()).toBe(true)
    breaker.failed()
    expect(breaker.retryAfterMs()).toBe(2_000)
  })

  it('opens when streams begin well and die in the middle', () => {
    const { breaker, states } = create()
    for (let stream = 0; stream < 3; stream += 1) {
      breaker.opened()
      breaker.failed()
    }
    expect(states).toEqual(['open'])
  })

  it('admits everybody again when a probe has begun to stream, and rests again when that dies', () => {
    const { breaker, fail, time, states } = create()
    fail(3)
    time.nowMs += 1_000
    expect(breaker.admit()).toBe(true)
    breaker.opened()
    expect([breaker.admit(), breaker.admit()]).toEqual([true, true])
    breaker.failed()
    expect([breaker.admit(), states]).toEqual([false, ['open', 'half-open', 'closed', 'open']])
  })

  it('lets another probe go when one ended without telling anything', () => {
    const { breaker, fail, time } = create()
    fail(3)
    time.nowMs += 1_000
    expect(breaker.admit()).toBe(true)
    breaker.abandoned()
    expect(breaker.admit()).toBe(true)
    breaker.succeeded()
    breaker.abandoned()
    expect(breaker.admit()).toBe(true)
  })

  it('never locks an upstream out: after the longest rest a request is admitted', () => {
    const step = fc.oneof(
      fc.constantFrom(
        'admit' as const,
        'opened' as const,
        'succeeded' as const,
        'failed' as const,
        'abandoned' as const,
      ),
      fc.integer({ min: 0, max: 5_000 }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { breaker, time } = create()
        let isProbing = false
        for (const next of steps) {
          if (typeof next === 'number') time.nowMs += next
          else if (next === 'admit') isProbing = breaker.admit() || isProbing
          else {
            breaker[next]()
            isProbing = false
          }
        }
        if (isProbing) breaker.abandoned()
        time.nowMs += 4_000
        expect(breaker.admit()).toBe(true)
      }),
    )
  })
})
