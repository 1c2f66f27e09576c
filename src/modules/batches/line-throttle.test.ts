import { describe, expect, test } from 'vitest'
import { LineThrottle } from './line-throttle.ts'

function answer(throttle: LineThrottle, times: number): void {
  for (let time = 0; time < times; time += 1) throttle.noteAnswer()
}

describe('the throttle of a batch', () => {
  test('grows with its answers up to its limit', () => {
    const throttle = new LineThrottle(null)
    const first = throttle.atOnce
    answer(throttle, 40)
    expect(throttle.atOnce).toBeGreaterThan(first)
    answer(throttle, 10_000)
    expect(throttle.atOnce).toBe(64)
  })

  test('is halved and pauses once for lines that are refused together', () => {
    const throttle = new LineThrottle(null)
    throttle.slowDown(5, 1_000)
    throttle.slowDown(5, 1_001)
    expect([throttle.atOnce, throttle.pauseMs(1_000), throttle.pauseMs(6_000)]).toEqual([8, 5_000, 0])
    for (let time = 1; time < 20; time += 1) throttle.slowDown(0.001, time * 100_000)
    expect(throttle.atOnce).toBe(1)
  })

  test('takes an eighth of the requests that the account may have at once', () => {
    const throttle = new LineThrottle(80)
    answer(throttle, 10_000)
    expect([throttle.atOnce, new LineThrottle(4).atOnce]).toEqual([10, 1])
  })

  test('leaves a part of each rate to others', () => {
    const throttle = new LineThrottle(null)
    throttle.noteRates([null, { limit: 100, remaining: 50, resetSeconds: 1 }], 0)
    expect(throttle.pauseMs(0)).toBe(0)
    throttle.noteRates([{ limit: 100, remaining: 30, resetSeconds: 1 }, null], 0)
    expect(throttle.pauseMs(0)).toBeGreaterThan(0)
  })

  test('waits for credit a few times, and again after an answer', () => {
    const throttle = new LineThrottle(null)
    const wait = () => [0, 1, 2, 3].map((at) => throttle.mayWaitForCredit(at * 100_000))
    expect(wait()).toEqual([true, true, true, false])
    throttle.noteAnswer()
    expect(wait()).toEqual([true, true, true, false])
  })
})
