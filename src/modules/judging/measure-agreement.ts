import { krippendorffAlpha, pairwiseAgreement } from './krippendorff-alpha.ts'
import type { CountedVote } from './read-votes.ts'

/** How far the people who voted on a run agree. */
export interface Agreement {
  readonly voters: number
  /** What at least two people voted on: the run, its prompts, or repeats of them. */
  readonly shared: number
  /** The share of pairs of votes on the same that are equal. Null without a pair. */
  readonly equalShare: number | null
  /** Krippendorff's alpha of the votes as nominal values. */
  readonly alpha: number | null
}

/** Counts the newest vote of a person on each question. The votes are the newest first. */
export function measureAgreement(votes: readonly CountedVote[]): Agreement {
  const people = votes.filter(({ source }) => source === 'human')
  const questions = Map.groupBy(people, ({ prompt_index: prompt, repeat }) => `${prompt} ${repeat}`)
  const units = [...questions.values()].map((given) => {
    const ofVoters = new Map<string, string>()
    for (const { voter_id: voterId, winner_lane_id: winnerId, outcome } of given)
      if (!ofVoters.has(voterId)) ofVoters.set(voterId, winnerId ?? outcome)
    return [...ofVoters.values()]
  })
  return {
    voters: new Set(people.map(({ voter_id: voterId }) => voterId)).size,
    shared: units.filter(({ length }) => length > 1).length,
    equalShare: pairwiseAgreement(units),
    alpha: krippendorffAlpha(units),
  }
}
