import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Revealed } from './blind-lanes.ts'
import { VOTER_ID, voterIdOf, VOTES, type Voter } from './voter.ts'
import type { Vote, VoteOutcome, VoteSource } from './votes.ts'

/** Reads which prompts of blind runs this voter has voted on. A vote on the whole run reveals all prompts. */
export async function readRevealed(
  queryable: Queryable,
  runIds: readonly string[],
  voter: Voter,
): Promise<(runId: string) => Revealed> {
  if (runIds.length === 0) return () => NOTHING_REVEALED
  const rows = await queryable.query<OwnVoteRow>(
    `SELECT run_id, prompt_index, winner_lane_id FROM ${VOTES}
     WHERE run_id = ANY ($1::uuid[]) AND source = 'human' AND ${VOTER_ID} = $2`,
    [runIds, voterIdOf(voter)],
  )
  const ofRuns = Map.groupBy(rows, ({ run_id: runId }) => runId)
  return (runId) => {
    const own = ofRuns.get(runId) ?? []
    const ownWins = new Map<string, number>()
    for (const { prompt_index: index, winner_lane_id: laneId } of own)
      if (index !== null && laneId !== null) ownWins.set(laneId, (ownWins.get(laneId) ?? 0) + 1)
    return {
      isAll: own.some(({ prompt_index: index }) => index === null),
      prompts: new Set(own.flatMap(({ prompt_index: index }) => index ?? [])),
      ownWins,
    }
  }
}

interface OwnVoteRow {
  readonly run_id: string
  readonly prompt_index: number | null
  readonly winner_lane_id: string | null
}

const NOTHING_REVEALED: Revealed = { isAll: false, prompts: new Set(), ownWins: new Map() }

/** Selects votes. Null members select all. */
export interface VoteFilter {
  readonly runId: string | null
  readonly datasetId: string | null
  readonly since: Date | null
  readonly source: VoteSource | null
}

/** The number of newest votes that are read: enough for narrow intervals, few enough to count within a request. */
const VOTES_MAX = 20_000

export interface CountedVote {
  readonly run_id: string
  readonly is_blind: boolean
  readonly prompt_index: number | null
  readonly repeat: number | null
  readonly lane_ids: readonly string[]
  readonly outcome: VoteOutcome
  readonly winner_lane_id: string | null
  readonly source: VoteSource
  readonly voter_id: string
}

/** Newest first. */
export function readVotes(
  queryable: Queryable,
  place: Place,
  { runId, datasetId, since, source }: VoteFilter,
): Promise<CountedVote[]> {
  return queryable.query<CountedVote>(
    `SELECT vote.run_id, run.is_blind, prompt_index, repeat, lane_ids, outcome, vote.winner_lane_id, source, ${VOTER_ID} AS voter_id
     FROM ${VOTES} JOIN compare_runs AS run ON run.id = vote.run_id
     WHERE ${place.projectId === null ? 'vote.account_id = $1' : isWithin(place, '$1', 'run')}
       AND ($2::uuid IS NULL OR vote.run_id = $2) AND ($3::uuid IS NULL OR dataset_id = $3)
       AND ($4::timestamptz IS NULL OR vote.created_at >= $4) AND ($5::text IS NULL OR source = $5)
     ORDER BY vote.id DESC LIMIT $6`,
    [idsOf(place), runId, datasetId, since, source, VOTES_MAX],
  )
}

/** Leaves out votes on prompts of blind runs that the voter has not voted on. */
export async function keepRevealed(
  queryable: Queryable,
  votes: readonly CountedVote[],
  voter: Voter,
): Promise<readonly CountedVote[]> {
  const blindIds = new Set(votes.filter(({ is_blind: isBlind }) => isBlind).map(({ run_id: runId }) => runId))
  const revealedOf = await readRevealed(queryable, [...blindIds], voter)
  const revealed = new Map([...blindIds].map((runId) => [runId, revealedOf(runId)]))
  return votes.filter(({ run_id: runId, prompt_index: index }) => {
    const shown = revealed.get(runId)
    return shown === undefined || shown.isAll || (index !== null && shown.prompts.has(index))
  })
}

/** A vote, and who gave it. */
export interface GivenVote extends Vote {
  readonly voterId: string
  readonly isOwn: boolean
}

interface ListedVotes {
  readonly runId: string
  readonly voter: Voter
  /** The prompts whose votes are read. Null for all votes. */
  readonly prompts: readonly number[] | null
}

/** Returns the votes of people on a run, newest first. */
export async function listVotes(
  queryable: Queryable,
  { runId, voter, prompts }: ListedVotes,
  { limit, afterId }: PageRequest,
): Promise<Page<GivenVote>> {
  const [rows, [count]] = await Promise.all([
    queryable.query<VoteRow>(
      `SELECT vote.id, run_id, prompt_index, repeat, lane_ids, outcome, winner_lane_id, source, reason, vote.created_at,
         ${VOTER_ID} AS voter_id
       FROM ${VOTES} WHERE ${LISTED} AND vote.id < $3 ORDER BY vote.id DESC LIMIT $4`,
      [runId, prompts, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>(`SELECT count(*) AS total FROM compare_votes WHERE ${LISTED}`, [
      runId,
      prompts,
    ]),
  ])
  const items = rows.slice(0, limit).map((row) => voteFromRow(row, voter))
  return { items, total: Number(count?.total ?? 0), hasMore: rows.length > limit }
}

const LISTED = `run_id = $1 AND source = 'human' AND ($2::integer[] IS NULL OR prompt_index = ANY ($2))`

interface VoteRow extends Omit<CountedVote, 'is_blind'> {
  readonly id: string
  readonly reason: string | null
  readonly created_at: Date
}

function voteFromRow(row: VoteRow, voter: Voter): GivenVote {
  return {
    id: row.id,
    runId: row.run_id,
    promptIndex: row.prompt_index,
    repeat: row.repeat,
    laneIds: row.lane_ids,
    outcome: row.outcome,
    winnerLaneId: row.winner_lane_id,
    source: row.source,
    reason: row.reason,
    createdAt: row.created_at,
    voterId: row.voter_id,
    isOwn: row.voter_id === voterIdOf(voter),
  }
}
