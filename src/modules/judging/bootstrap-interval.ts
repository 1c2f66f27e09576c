import { percentile } from './percentile.ts'
import { createRandom } from '../../kernel/seeded-random.ts'

/** The 95% confidence interval of a value. */
export interface Interval {
  readonly low: number
  readonly high: number
}

const RESAMPLES_MAX = 1_000
/** The limit on draws in total. Large samples get fewer resamples, because they need fewer. */
const DRAWS_MAX = 2_000_000
const RESAMPLES_MIN = 200
const TAIL = 0.025

interface BootstrapOptions {
  readonly seed: number
  readonly resamples?: number
  /** The mean by default. It may sort its argument in place. */
  readonly statistic?: (values: Float64Array) => number
}

/** Returns the percentile bootstrap interval of the statistic. Null for fewer than two values. */
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

/** Sorts its argument in place. */
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
