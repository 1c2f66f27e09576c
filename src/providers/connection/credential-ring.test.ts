import { assert, nat, property, subarray } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { fakeClock } from '../../kernel/testing/fake-clock.ts'
import { createCredentialRing } from './credential-ring.ts'
import { KEY_LIMITS_UNKNOWN, type KeyAllowance } from './key-limits.ts'

function createRing(keys: string[]) {
  let nowMs = 1_000
  const created = createCredentialRing(keys, { provider: 'test', clock: fakeClock(() => nowMs) })
  const take = (affinity?: () => number | null): string => {
    const taken = created.take(affinity)
    if (taken instanceof Promise) throw new Error('a key without limits is taken at once')
    return taken.key
  }
  const ring = { take, size: created.size, rest: (key: string, restMs: number) => created.rest(key, restMs) }
  return { ring, passMs: (ms: number) => (nowMs += ms) }
}

describe('a credential ring', () => {
  test('returns its keys in turn', () => {
    const { ring } = createRing(['a', 'b', 'c'])
    expect([ring.take(), ring.take(), ring.take(), ring.take()]).toEqual(['a', 'b', 'c', 'a'])
  })

  test('returns the same key for the same affinity, and another while that one rests', () => {
    const { ring, passMs } = createRing(['a', 'b', 'c'])
    const affinity = () => 42
    const own = ring.take(affinity)
    expect([ring.take(), ring.take(), ring.take(affinity)].at(-1)).toBe(own)
    ring.rest(own, 5_000)
    const second = ring.take(affinity)
    expect(second).not.toBe(own)
    expect(ring.take(affinity)).toBe(second)
    passMs(5_000)
    expect(ring.take(affinity)).toBe(own)
  })

  test('distributes affinities evenly over its keys, and does not compute one if it has one key', () => {
    const { ring } = createRing(['a', 'b', 'c', 'd'])
    const counts = new Map<string, number>()
    for (let key = 0; key < 8_000; key += 1) {
      const taken = ring.take(() => key)
      counts.set(taken, (counts.get(taken) ?? 0) + 1)
    }
    expect(counts.size).toBe(4)
    for (const count of counts.values()) expect(Math.abs(count - 2_000)).toBeLessThan(250)
    const refuse = () => {
      throw new Error('nobody needs it')
    }
    expect(createRing(['a']).ring.take(refuse)).toBe('a')
  })

  test('skips a resting key until its rest is over', () => {
    const { ring, passMs } = createRing(['a', 'b'])
    ring.rest('a', 5_000)
    expect([ring.take(), ring.take()]).toEqual(['b', 'b'])
    passMs(5_000)
    expect(ring.take()).toBe('a')
  })

  test('returns the key whose rest ends first if all rest', () => {
    const { ring } = createRing(['a', 'b', 'c'])
    ring.rest('a', 3_000)
    ring.rest('b', 1_000)
    ring.rest('c', 2_000)
    expect(ring.take()).toBe('b')
  })

  test('does not shorten a longer rest', () => {
    const { ring, passMs } = createRing(['a', 'b'])
    ring.rest('a', 5_000)
    ring.rest('a', 1_000)
    passMs(1_000)
    expect([ring.take(), ring.take()]).toEqual(['b', 'b'])
  })

  test('counts a duplicate key once, and ignores a rest of an unknown key', () => {
    const { ring } = createRing(['a', 'a'])
    ring.rest('unknown', 1_000)
    expect(ring.size).toBe(1)
    expect([ring.take(), ring.take()]).toEqual(['a', 'a'])
  })

  test('refuses to return a key if it has none', () => {
    expect(() => createRing([]).ring.take()).toThrow(RangeError)
  })

  test('returns a key without limits while the limits of another cannot be read, and fails if there is none', async () => {
    const unread = { take: () => Promise.reject(new Error('the database is away')) }
    const takeOf = (...allowances: (KeyAllowance | null)[]) =>
      createCredentialRing(['a', 'b'], { provider: 'test', clock: fakeClock(() => 0), allowances }).take()
    expect(await takeOf(unread, null)).toEqual({ key: 'b', use: null })
    await expect(takeOf(unread, unread)).rejects.toMatchObject({
      details: { failure: 'local', upstreamCode: KEY_LIMITS_UNKNOWN },
    })
  })

  test('never returns a resting key while another is available, and shares the work evenly', () => {
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
