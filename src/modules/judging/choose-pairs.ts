import { createRandom, shuffle } from '../../kernel/seeded-random.ts'

export type Pair = readonly [one: string, other: string]

const ALL_PAIRS_LANES_MAX = 4
/** Spreads the seeds of neighbouring prompts. */
const PROMPT_STRIDE = 7_919

/**
 * Which lanes of a prompt a judge compares: all pairs of up to four; of more, each with its two neighbours in a circle that is drawn anew
 * for every prompt, so that the cost grows with the lanes and not with their square, and over the prompts everybody meets everybody.
 */
export function choosePairs(
  laneIds: readonly string[],
  { seed, promptIndex, repeat }: { seed: number; promptIndex: number; repeat: number },
): Pair[] {
  if (laneIds.length <= ALL_PAIRS_LANES_MAX) {
    return laneIds.flatMap((one, index) => laneIds.slice(index + 1).map((other): Pair => [one, other]))
  }
  const circle = shuffle(laneIds, createRandom(seed + promptIndex * PROMPT_STRIDE + repeat))
  return circle.map((one, index): Pair => [one, circle[(index + 1) % circle.length] ?? one])
}
