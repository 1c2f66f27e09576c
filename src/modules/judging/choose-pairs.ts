import { createRandom, shuffle } from '../../kernel/seeded-random.ts'

export type Pair = readonly [one: string, other: string]

const ALL_PAIRS_LANES_MAX = 4
/** Keeps the seeds of neighbouring prompts apart. */
const PROMPT_STRIDE = 7_919

/**
 * Returns the pairs of lanes that a judge compares for a prompt. Up to four lanes: all pairs. More lanes: each lane with its two
 * neighbours in a circle that is shuffled for each prompt, so that the cost grows linearly with the lanes and, over many prompts,
 * all lanes meet each other.
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
