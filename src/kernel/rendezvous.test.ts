import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawFor, hashText, scoreOf } from './rendezvous.ts'

interface Weighted {
  readonly name: string
  readonly weight: number
}

function choose(key: string, candidates: readonly Weighted[]): string | undefined {
  const hash = hashText(key)
  const scored = candidates.map(({ name, weight }) => ({
    name,
    score: scoreOf(drawFor(hash, hashText(name)), weight),
  }))
  return scored.toSorted((one, other) => other.score - one.score)[0]?.name
}

const candidates: fc.Arbitrary<Weighted[]> = fc.uniqueArray(
  fc.record({ name: fc.string({ minLength: 1 }), weight: fc.integer({ min: 1, max: 9 }) }),
  { minLength: 2, maxLength: 5, selector: ({ name }) => hashText(name) },
)

describe('rendezvous hashing', () => {
  test('gives each candidate its share of many keys, by weight', () => {
    fc.assert(
      fc.property(candidates, fc.string(), (list, salt) => {
        const keys = 4_000
        const counts = new Map<string, number>()
        for (let index = 0; index < keys; index += 1) {
          const chosen = choose(`${salt} ${index}`, list) ?? ''
          counts.set(chosen, (counts.get(chosen) ?? 0) + 1)
        }
        const weights = list.reduce((sum, { weight }) => sum + weight, 0)
        for (const { name, weight } of list) {
          const part = weight / weights
          // Six standard deviations: random draws would exceed this about once in a billion.
          const tolerance = 6 * Math.sqrt(keys * part * (1 - part)) + 1
          expect(Math.abs((counts.get(name) ?? 0) - keys * part)).toBeLessThan(tolerance)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('moves only the keys of a removed candidate', () => {
    fc.assert(
      fc.property(candidates, fc.string(), (list, key) => {
        const chosen = choose(key, list)
        for (const { name } of list) {
          const rest = list.filter((candidate) => candidate.name !== name)
          if (name !== chosen) expect(choose(key, rest)).toBe(chosen)
        }
        expect(choose(key, list.toReversed())).toBe(chosen)
      }),
    )
  })
})
