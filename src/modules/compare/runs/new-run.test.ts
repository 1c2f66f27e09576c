import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { orderLanes } from './new-run.ts'

describe('the order of lanes', () => {
  test('is the same for the same seed and prompt, and has every lane once', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 999 }), fc.integer({ min: 2, max: 10 }), (seed, prompt, lanes) => {
        const order = orderLanes(seed, prompt, lanes)
        expect(order).toEqual(orderLanes(seed, prompt, lanes))
        expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: lanes }, (_, lane) => lane))
      }),
    )
  })

  test('puts every lane first about equally often', () => {
    const firsts = Array.from({ length: 4 }, () => 0)
    for (let prompt = 0; prompt < 4_000; prompt += 1) {
      const [first = 0] = orderLanes(42, prompt, 4)
      firsts[first] = (firsts[first] ?? 0) + 1
    }
    for (const count of firsts) expect(Math.abs(count - 1_000)).toBeLessThan(150)
  })
})
