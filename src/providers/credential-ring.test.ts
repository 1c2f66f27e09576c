import { assert, nat, property, subarray } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { fakeClock } from '../kernel/testing/fake-clock.ts'
import { createCredentialRing } from './credential-ring.ts'

function createRing(keys: string[]) {
  let nowMs = 1_000
  const ring = createCredentialRing(keys, { clock: fakeClock(() => nowMs) })
  return { ring, passMs: (ms: number) => (nowMs += ms) }
}

describe('a credential ring', () => {
  test('hands out its keys in turn', () => {
    const { ring } = createRing(['a', 'b', 'c'])
    expect([ring.take(), ring.take(), ring.take(), ring.take()]).toEqual(['a', 'b', 'c', 'a'])
  })

  test('leaves a resting key out until its rest is over', () => {
    const { ring, passMs } = createRing(['a', 'b'])
    ring.rest('a', 5_000)
    expect([ring.take(), ring.take()]).toEqual(['b', 'b'])
    passMs(5_000)
    expect(ring.take()).toBe('a')
  })

  test('hands out the key that wakes first when all rest', () => {
    const { ring } = createRing(['a', 'b', 'c'])
    ring.rest('a', 3_000)
    ring.rest('b', 1_000)
    ring.rest('c', 2_000)
    expect(ring.take()).toBe('b')
  })

  test('does not shorten a rest that is already longer', () => {
    const { ring, passMs } = createRing(['a', 'b'])
    ring.rest('a', 5_000)
    ring.rest('a', 1_000)
    passMs(1_000)
    expect([ring.take(), ring.take()]).toEqual(['b', 'b'])
  })

  test('counts a key given twice once, and ignores a rest of a key it does not hold', () => {
    const { ring } = createRing(['a', 'a'])
    ring.rest('unknown', 1_000)
    expect(ring.size).toBe(1)
    expect([ring.take(), ring.take()]).toEqual(['a', 'a'])
  })

  test('refuses to be taken from when it holds no key', () => {
    expect(() => createRing([]).ring.take()).toThrow(RangeError)
  })

  test('never hands out a resting key while another is awake, and shares the work evenly', () => {
    const keys = ['a', 'b', 'c', 'd']
    assert(
      property(subarray(keys, { maxLength: 3 }), nat({ max: 3 }), (resting, warmUp) => {
        const { ring } = createRing(keys)
        for (let step = 0; step < warmUp; step += 1) ring.take()
        for (const key of resting) ring.rest(key, 1_000)
        const awake = keys.length - resting.length
        const taken = Array.from({ length: awake * 5 }, () => ring.take())
        for (const key of keys) {
          expect(taken.filter((candidate) => candidate === key).length).toBe(resting.includes(key) ? 0 : 5)
        }
      }),
    )
  })
})
