import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Deadlines } from './deadlines.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('Deadlines', () => {
  it('expire once, within half a second of their time', () => {
    const expired = vi.fn()
    new Deadlines().add(1_000, expired)
    vi.advanceTimersByTime(999)
    expect(expired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(501)
    vi.advanceTimersByTime(10_000)
    expect(expired).toHaveBeenCalledOnce()
  })

  it('leave no timer when none is left', () => {
    const deadlines = new Deadlines()
    deadlines.cancel(deadlines.add(60_000, () => {}))
    vi.advanceTimersByTime(500)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('expire exactly those that were not cancelled, in any order', () => {
    const step = fc.record({ durationMs: fc.nat(5_000), cancels: fc.option(fc.nat(20)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const deadlines = new Deadlines()
        const expired = new Set<number>()
        const cancelled = new Set<number>()
        const added = steps.map(({ durationMs }, index) =>
          deadlines.add(durationMs, () => expired.add(index)),
        )
        for (const { cancels } of steps) {
          const deadline = cancels === null ? undefined : added[cancels]
          if (deadline === undefined || cancels === null) continue
          deadlines.cancel(deadline)
          cancelled.add(cancels)
        }
        vi.advanceTimersByTime(6_000)
        const kept = [...steps.keys()].filter((index) => !cancelled.has(index))
        expect([...expired].toSorted((a, b) => a - b)).toEqual(kept)
      }),
    )
  })
})
