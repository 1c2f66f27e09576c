import { DUELS_MIN, type Standing } from './rank-contestants.ts'

export type Verdict =
  | { readonly outcome: 'better'; readonly contestant: string; readonly text: string }
  | { readonly outcome: 'no_significant_difference' | 'not_enough_votes'; readonly text: string }

/** Describes what a ranking means, and claims only what is significant. Standings must be sorted best first. */
export function decideVerdict(
  standings: readonly Standing[],
  ballots: number,
  nameOf: (contestant: string) => string,
): Verdict {
  const [best, second] = standings
  if (ballots < DUELS_MIN || best === undefined || second === undefined) {
    return { outcome: 'not_enough_votes', text: `not enough votes (${ballots} of at least ${DUELS_MIN})` }
  }
  if (standings.some(({ rank }, index) => index > 0 && rank === best.rank)) {
    return { outcome: 'no_significant_difference', text: 'no significant difference' }
  }
  return { outcome: 'better', contestant: best.contestant, text: `${nameOf(best.contestant)} is better` }
}
