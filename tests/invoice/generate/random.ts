import { createRandom as createSeries } from '../../../src/kernel/seeded-random.ts'

/** Random choices that a seed repeats. */
export interface Random {
  /** A whole number, both ends included. */
  int(min: number, max: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<Value>(values: readonly Value[]): Value
  /** Up to `max` values that `make` returns. */
  some<Value>(max: number, make: () => Value): Value[]
}

export function createRandom(seed: number): Random {
  const series = createSeries(seed >>> 0)
  const int = (min: number, max: number) => min + Math.floor(series.next() * (max - min + 1))
  return {
    int,
    chance: (probability) => series.next() < probability,
    pick: (values) => {
      const value = values[int(0, values.length - 1)]
      if (value === undefined) throw new RangeError('nothing to pick from')
      return value
    },
    some: (max, make) => Array.from({ length: int(0, max) }, make),
  }
}

/** The seed of one case of a run, so that a case can be repeated without those before it. */
export function seedOf(runSeed: number, index: number): number {
  return (Math.imul(runSeed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) | 0
}
