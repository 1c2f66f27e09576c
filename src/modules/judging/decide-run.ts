import type { Queryable } from '../../storage/database.ts'
import { compareScores, type LaneQuality } from './compare-scores.ts'
import { toBallots } from './count-votes.ts'
import { measureAgreement } from './measure-agreement.ts'
import { describeDecision } from './describe-decision.ts'
import { DUELS_MIN, rankContestants } from './rank-contestants.ts'
import type { DecidedLane, DecisionBasis, RunDecision } from './run-decision.ts'
import { readVotes, type CountedVote } from './read-votes.ts'
import type { Place } from '../../storage/place.ts'

/** A run that has ended. */
export interface DecidedRun {
  readonly id: string
  readonly seed: number
  readonly lanes: readonly {
    readonly id: string
    readonly name: string
    readonly failed: number
    readonly stats: {
      readonly intervals?: {
        readonly costUsd: { readonly mean: number } | null
        readonly latencyMs: { readonly mean: number } | null
      }
    } | null
  }[]
}

/** Fewer agree by chance too often. */
const PROMPTS_MIN = DUELS_MIN

/** Decides by the votes of people, else by scores, else by the votes of the judge: the first of which there are enough. */
export async function decideRun(queryable: Queryable, place: Place, run: DecidedRun): Promise<RunDecision> {
  const votes = await readVotes(queryable, place, {
    runId: run.id,
    datasetId: null,
    since: null,
    source: null,
  })
  const found =
    (await judgeByVotes(
      run,
      votes.filter(({ source }) => source === 'human'),
      'people',
    )) ??
    (await judgeByScores(queryable, run)) ??
    (await judgeByVotes(
      run,
      votes.filter(({ source }) => source === 'judge'),
      'judge',
    ))
  const lanes = run.lanes.map((lane): DecidedLane => ({
    laneId: lane.id,
    name: lane.name,
    quality: found?.qualities.find(({ laneId }) => laneId === lane.id) ?? null,
    costUsd: lane.stats?.intervals?.costUsd?.mean ?? null,
    latencyMs: lane.stats?.intervals?.latencyMs?.mean ?? null,
    failed: lane.failed,
  }))
  const decided = decide(found?.qualities ?? [], lanes)
  const basis = found?.basis ?? null
  const agreement = measureAgreement(votes)
  return { ...decided, basis, lanes, agreement, text: describeDecision({ ...decided, basis, lanes }) }
}

interface FoundQualities {
  readonly basis: DecisionBasis
  /** Best first. */
  readonly qualities: readonly LaneQuality[]
}

async function judgeByScores(
  queryable: Queryable,
  { id, seed, lanes }: DecidedRun,
): Promise<FoundQualities | null> {
  const rows = await queryable.query<{ lane_id: string; prompt_index: number; score: number }>(READ_SCORES, [
    id,
  ])
  const ofPrompts = Map.groupBy(rows, ({ prompt_index: prompt }) => prompt)
  // Only prompts that every lane has a score of are compared.
  const whole = [...ofPrompts.values()].filter(({ length }) => length === lanes.length)
  if (lanes.length < 2 || whole.length < PROMPTS_MIN) return null
  const scores = new Map(
    lanes.map((lane) => [
      lane.id,
      whole.map((ofPrompt) => ofPrompt.find(({ lane_id: laneId }) => laneId === lane.id)?.score ?? 0),
    ]),
  )
  return { basis: 'score', qualities: await compareScores(scores, { seed }) }
}

const READ_SCORES = `
  SELECT lane_id, prompt_index, avg(score)::float8 AS score FROM compare_cells
  WHERE run_id = $1 AND status = 'completed' AND score IS NOT NULL GROUP BY lane_id, prompt_index ORDER BY prompt_index`

async function judgeByVotes(
  { seed, lanes }: DecidedRun,
  votes: readonly CountedVote[],
  basis: DecisionBasis,
): Promise<FoundQualities | null> {
  const ballots = toBallots(votes, (laneId) => laneId)
  if (ballots.length < DUELS_MIN) return null
  const standings = await rankContestants(
    lanes.map(({ id }) => id),
    ballots,
    { seed },
  )
  const best = standings[0]
  const qualities = standings.map(({ contestant, rating, interval, lead }): LaneQuality => ({
    laneId: contestant,
    mean: toWinShare(rating),
    interval: { low: toWinShare(interval?.low ?? -Infinity), high: toWinShare(interval?.high ?? Infinity) },
    lead,
    isWorse:
      best !== undefined &&
      best.interval !== null &&
      interval !== null &&
      contestant !== best.contestant &&
      best.interval.low > interval.high,
  }))
  return { basis, qualities }
}

const RATING_MIDDLE = 1_000
const RATING_PER_TENFOLD = 400

/** How often a lane with this rating wins against one in the middle. */
function toWinShare(rating: number): number {
  return 1 / (1 + 10 ** ((RATING_MIDDLE - rating) / RATING_PER_TENFOLD))
}

type Decided = Pick<RunDecision, 'outcome' | 'winnerLaneId' | 'recommendedLaneId' | 'confidence'>

function decide(qualities: readonly LaneQuality[], lanes: readonly DecidedLane[]): Decided {
  const [best] = qualities
  if (best === undefined)
    return { outcome: 'not_enough_data', winnerLaneId: null, recommendedLaneId: null, confidence: null }
  const level = qualities.filter(({ isWorse }) => !isWorse)
  if (level.length === 1)
    return {
      outcome: 'better',
      winnerLaneId: best.laneId,
      recommendedLaneId: best.laneId,
      confidence: best.lead,
    }
  return {
    outcome: 'no_clear_difference',
    winnerLaneId: null,
    recommendedLaneId: cheapestOf(level, lanes),
    confidence: best.lead,
  }
}

/** By cost, and at the same cost by time. */
function cheapestOf(level: readonly LaneQuality[], lanes: readonly DecidedLane[]): string | null {
  const known = lanes.filter(
    ({ laneId, costUsd }) => costUsd !== null && level.some((quality) => quality.laneId === laneId),
  )
  const [cheapest] = known.toSorted(
    (one, other) =>
      (one.costUsd ?? 0) - (other.costUsd ?? 0) ||
      (one.latencyMs ?? Infinity) - (other.latencyMs ?? Infinity),
  )
  return cheapest?.laneId ?? null
}
