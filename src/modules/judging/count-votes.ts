import type { Ballot, Duel } from './rank-contestants.ts'
import type { CountedVote } from './read-votes.ts'

export interface VoteCounts {
  readonly total: number
  readonly human: number
  readonly judge: number
  readonly ties: number
  readonly bothBad: number
}

export function countVotes(votes: readonly CountedVote[]): VoteCounts {
  const count = (isCounted: (vote: CountedVote) => boolean): number => votes.filter(isCounted).length
  return {
    total: votes.length,
    human: count(({ source }) => source === 'human'),
    judge: count(({ source }) => source === 'judge'),
    ties: count(({ outcome }) => outcome === 'tie'),
    bothBad: count(({ outcome }) => outcome === 'both_bad'),
  }
}

/** The votes that one contestant took part in. A vote among three counts once for each of them. */
export interface VoteRecord {
  won: number
  lost: number
  tied: number
  bothBad: number
}

/** Counts votes by contestant. A vote on lanes of one contestant only says nothing about it. */
export function countRecords(
  votes: readonly CountedVote[],
  contestantOf: (laneId: string) => string | undefined,
): ReadonlyMap<string, VoteRecord> {
  const records = new Map<string, VoteRecord>()
  for (const { lane_ids: laneIds, winner_lane_id: winnerId, outcome } of votes) {
    const contestants = new Set(laneIds.flatMap((laneId) => contestantOf(laneId) ?? []))
    if (contestants.size < 2) continue
    const winner = winnerId === null ? null : contestantOf(winnerId)
    for (const contestant of contestants) {
      const record = records.get(contestant) ?? { won: 0, lost: 0, tied: 0, bothBad: 0 }
      records.set(contestant, record)
      if (outcome === 'both_bad') record.bothBad += 1
      else if (outcome === 'tie') record.tied += 1
      else if (winner === contestant) record.won += 1
      else record.lost += 1
    }
  }
  return records
}

/**
 * Converts votes to duels: the winner beats each other lane; a tie, or a vote that all are bad, is a tie between all lanes. All
 * votes on one prompt form one ballot, because they are not independent: they count as one observation in the confidence
 * intervals.
 */
export function toBallots(
  votes: readonly CountedVote[],
  contestantOf: (laneId: string) => string | undefined,
): Ballot[] {
  const ballots = Map.groupBy(votes, ({ run_id: run, prompt_index: prompt }) => `${run} ${prompt ?? 'whole'}`)
  return [...ballots.values()]
    .map((said) => said.flatMap((vote) => toDuels(vote, contestantOf)))
    .filter((ballot) => ballot.length > 0)
}

function toDuels(
  { lane_ids: laneIds, winner_lane_id: winnerId }: CountedVote,
  contestantOf: (laneId: string) => string | undefined,
): Duel[] {
  const winner = winnerId === null ? null : contestantOf(winnerId)
  if (winner === undefined) return []
  const duels: Duel[] = []
  for (const [index, firstId] of laneIds.entries()) {
    for (const secondId of laneIds.slice(index + 1)) {
      const [one, other] = [contestantOf(firstId), contestantOf(secondId)]
      if (one === undefined || other === undefined || one === other) continue
      // Two lanes that both did not win were not compared with each other.
      if (winnerId !== null && winnerId !== firstId && winnerId !== secondId) continue
      duels.push({ one, other, winner })
    }
  }
  return duels
}
