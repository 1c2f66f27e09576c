import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { countRecords, countVotes, toBallots, type VoteCounts, type VoteRecord } from './count-votes.ts'
import { measureAgreement, type Agreement } from './measure-agreement.ts'
import { decideVerdict, type Verdict } from './decide-verdict.ts'
import { rankContestants, type Standing } from './rank-contestants.ts'
import { keepRevealed, readVotes, type VoteFilter } from './read-votes.ts'
import type { Voter } from './voter.ts'

/** The ranking by votes, with confidence intervals and a verdict in words. */
export interface Ranking {
  readonly standings: readonly Standing[]
  readonly verdict: Verdict
  readonly votes: VoteCounts
  /** By contestant. Those without a vote are missing. */
  readonly records: ReadonlyMap<string, VoteRecord>
  /** The number of independent observations. Several votes on one prompt count as one. */
  readonly ballots: number
}

export interface RunVerdict extends Ranking {
  readonly runId: string
  readonly lanes: readonly RankedLane[]
  readonly judge: JudgeTally
  readonly agreement: Agreement
}

interface RankedLane {
  readonly id: string
  readonly model: string
  readonly name: string
}

/** How often the judge agreed with itself when the answers were swapped. */
interface JudgeTally {
  /** Pairs that the judge has finished: the sum of the following three. */
  readonly pairs: number
  readonly consistent: number
  readonly inconsistent: number
  readonly failed: number
}

/** A constant, so that the same votes give the same intervals in every process. */
const LEADERBOARD_SEED = 1

/** Ranks the models of all runs within the place. Lanes with the same model are one contestant. */
export async function readLeaderboard(
  queryable: Queryable,
  place: Place,
  { voter, ...filter }: VoteFilter & { readonly voter: Voter },
  modelIdOf: (model: string) => string,
): Promise<Ranking> {
  if (filter.runId !== null) await requireRun(queryable, place, filter.runId)
  const found = await readVotes(queryable, place, filter)
  // Among the votes of all runs, those on one of them cannot be told. Those since a moment may be of one.
  const isNarrow = filter.runId !== null || filter.datasetId !== null || filter.since !== null
  const votes = isNarrow ? await keepRevealed(queryable, found, voter) : found
  const runIds = [...new Set(votes.map(({ run_id: runId }) => runId))]
  const lanes = await queryable.query<RankedLane>(
    'SELECT id, model, name FROM compare_lanes WHERE run_id = ANY ($1::uuid[])',
    [runIds],
  )
  const models = new Map(lanes.map(({ id, model }) => [id, modelIdOf(model)]))
  const ballots = toBallots(votes, (laneId) => models.get(laneId))
  const contestants = [...new Set(ballots.flat().flatMap(({ one, other }) => [one, other]))].toSorted()
  const standings = await rankContestants(contestants, ballots, { seed: LEADERBOARD_SEED })
  return {
    standings,
    verdict: decideVerdict(standings, ballots.length, (model) => model),
    votes: countVotes(votes),
    records: countRecords(votes, (laneId) => models.get(laneId)),
    ballots: ballots.length,
  }
}

export async function readRunVerdict(
  queryable: Queryable,
  place: Place,
  runId: string,
  voter: Voter,
): Promise<RunVerdict> {
  const { seed } = await requireRun(queryable, place, runId)
  const lanes = await queryable.query<RankedLane>(
    'SELECT id, model, name FROM compare_lanes WHERE run_id = $1 ORDER BY position',
    [runId],
  )
  const filter = { runId, datasetId: null, since: null, source: null }
  const votes = await keepRevealed(queryable, await readVotes(queryable, place, filter), voter)
  const ballots = toBallots(votes, (laneId) => laneId)
  const laneIds = lanes.map(({ id }) => id)
  const standings = await rankContestants(laneIds, ballots, { seed: Number(seed) })
  return {
    runId,
    lanes,
    standings,
    verdict: decideVerdict(
      standings,
      ballots.length,
      (id) => lanes.find((lane) => lane.id === id)?.name ?? id,
    ),
    votes: countVotes(votes),
    records: countRecords(votes, (laneId) => laneId),
    ballots: ballots.length,
    judge: await tallyJudge(queryable, runId),
    agreement: measureAgreement(votes),
  }
}

async function requireRun(queryable: Queryable, place: Place, runId: string): Promise<{ seed: bigint }> {
  if (!isUuid(runId)) throw notFound('run')
  const [run] = await queryable.query<{ seed: bigint }>(
    `SELECT seed FROM compare_runs WHERE id = $1 AND ${isWithin(place, '$2')}`,
    [runId, idsOf(place)],
  )
  if (run === undefined) throw notFound('run')
  return run
}

async function tallyJudge(queryable: Queryable, runId: string): Promise<JudgeTally> {
  const [row] = await queryable.query<{ consistent: number; inconsistent: number; failed: number }>(TALLY, [
    runId,
  ])
  const { consistent = 0, inconsistent = 0, failed = 0 } = row ?? {}
  return { pairs: consistent + inconsistent + failed, consistent, inconsistent, failed }
}

const TALLY = `
  WITH pairs AS (
    SELECT bool_and(completed_at IS NOT NULL OR error_code IS NOT NULL) AS is_done, bool_or(error_code IS NOT NULL) AS has_failed,
      count(*) AS orders, count(DISTINCT CASE preferred WHEN 'first' THEN first_lane_id::text
        WHEN 'second' THEN second_lane_id::text ELSE preferred END) AS opinions
    FROM compare_judgements WHERE run_id = $1 AND first_lane_id <> second_lane_id
    GROUP BY prompt_index, repeat, least(first_lane_id, second_lane_id), greatest(first_lane_id, second_lane_id)
  )
  SELECT count(*) FILTER (WHERE NOT has_failed AND orders = 2 AND opinions = 1)::int AS consistent,
    count(*) FILTER (WHERE NOT has_failed AND orders = 2 AND opinions > 1)::int AS inconsistent,
    count(*) FILTER (WHERE has_failed)::int AS failed
  FROM pairs WHERE is_done`
