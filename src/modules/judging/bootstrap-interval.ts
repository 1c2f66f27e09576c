import { percentile } from './percentile.ts'
import { createRandom } from '../../kernel/seeded-random.ts'

/** Where a value would lie, nineteen times of twenty, if the same were measured anew. */
export interface Interval {
  readonly low: number
  readonly high: number
}

const RESAMPLES_MAX = 1_000
/** Draws in all: large samples are resampled less often, and need it less. */
const DRAWS_MAX = 2_000_000
const RESAMPLES_MIN = 200
const TAIL = 0.025

interface BootstrapOptions {
  readonly seed: number
  readonly resamples?: number
  /** The mean unless told. It may sort what it is given. */
  readonly statistic?: (values: Float64Array) => number
}

/** The percentile bootstrap: the statistic of many samples that are drawn from this one. Null of fewer than two values. */
export function bootstrapInterval(values: ArrayLike<number>, options: BootstrapOptions): Interval | null {
  const { length } = values
  if (length < 2) return null
  const { seed, statistic = meanOf, resamples = RESAMPLES_MAX } = options
  const random = createRandom(seed)
  const rounds = boundResamples(resamples, length)
  const sample = new Float64Array(length)
  const found = new Float64Array(rounds)
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < length; index += 1) sample[index] = values[random.below(length)] ?? 0
    found[round] = statistic(sample)
  }
  return intervalOf(found)
}

/** Sorts what it is given. */
export function intervalOf(found: Float64Array): Interval {
  found.sort()
  return { low: percentile(found, TAIL) ?? NaN, high: percentile(found, 1 - TAIL) ?? NaN }
}

export function boundResamples(resamples: number, drawsEach: number): number {
  const affordable = Math.floor(DRAWS_MAX / Math.max(1, drawsEach))
  return Math.max(1, Math.min(resamples, RESAMPLES_MAX, Math.max(RESAMPLES_MIN, affordable)))
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0
  for (let index = 0; index < values.length; index += 1) sum += values[index] ?? 0
  return sum / values.length
}
