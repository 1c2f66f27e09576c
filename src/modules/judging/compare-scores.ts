import { boundResamples, intervalOf, type Interval } from './bootstrap-interval.ts'
import { createRandom } from '../../kernel/seeded-random.ts'
import { countLeads } from './rank-contestants.ts'
import { ShortTurns } from '../../kernel/turns/short-turns.ts'

/** How good one lane is, compared with the others on the same prompts. */
export interface LaneQuality {
  readonly laneId: string
  /** Between 0 and 1. */
  readonly mean: number
  readonly interval: Interval
  /** The share of the samples in which it is the best. */
  readonly lead: number
  /** Whether the best lane is better with a confidence of 95 %. */
  readonly isWorse: boolean
}

/** The scores of each lane, in the same order of prompts for all of them. */
export type ScoresOfLanes = ReadonlyMap<string, ArrayLike<number>>

/**
 * Compares lanes by their scores, best first. All lanes are resampled by the same prompts, so that the spread between prompts does
 * not hide a difference.
 */
export async function compareScores(
  scores: ScoresOfLanes,
  { seed }: { readonly seed: number },
): Promise<LaneQuality[]> {
  const lanes = [...scores]
  const prompts = Math.min(...lanes.map(([, values]) => values.length))
  if (lanes.length === 0 || prompts === 0) return []
  const samples = await resampleMeans(
    lanes.map(([, values]) => values),
    prompts,
    seed,
  )
  const leads = countLeads(samples)
  const means = lanes.map(([, values]) => meanOfFirst(values, prompts))
  const best = means.indexOf(Math.max(...means))
  const ofBest = samples[best] ?? new Float64Array(0)
  const found = lanes.map(([laneId], index) => {
    const own = samples[index] ?? new Float64Array(0)
    const difference = intervalOf(ofBest.map((value, round) => value - (own[round] ?? 0)))
    return {
      laneId,
      mean: means[index] ?? 0,
      interval: intervalOf(Float64Array.from(own)),
      lead: leads[index] ?? 0,
      isWorse: index !== best && difference.low > 0,
    }
  })
  return found.toSorted((one, other) => other.mean - one.mean)
}

const RESAMPLES = 1_000

/** Returns the mean of each lane in samples of the prompts. */
async function resampleMeans(
  lanes: readonly ArrayLike<number>[],
  prompts: number,
  seed: number,
): Promise<Float64Array[]> {
  const random = createRandom(seed)
  const turns = new ShortTurns()
  const rounds = boundResamples(RESAMPLES, prompts * lanes.length)
  const samples = lanes.map(() => new Float64Array(rounds))
  const drawn = new Int32Array(prompts)
  for (let round = 0; round < rounds; round += 1) {
    for (let draw = 0; draw < prompts; draw += 1) drawn[draw] = random.below(prompts)
    for (const [index, values] of lanes.entries()) {
      let sum = 0
      for (const prompt of drawn) sum += values[prompt] ?? 0
      const sample = samples[index]
      if (sample !== undefined) sample[round] = sum / prompts
    }
    if (turns.isOver) await turns.next()
  }
  return samples
}

function meanOfFirst(values: ArrayLike<number>, count: number): number {
  let sum = 0
  for (let index = 0; index < count; index += 1) sum += values[index] ?? 0
  return sum / count
}
