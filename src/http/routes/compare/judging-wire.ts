import { Type, type TSchema } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type {
  DiffLane,
  Interval,
  MeasureDiff,
  Ranking,
  RunDiff,
  RunVerdict,
  Standing,
  Vote,
} from '../../../modules/judging/judging.ts'

const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])
const Uuid = Type.String({ format: 'uuid' })

export const VoteAnswer = Type.Object({
  id: Uuid,
  object: Type.Literal('compare.vote'),
  run_id: Uuid,
  prompt_index: orNull(Type.Integer()),
  repeat: orNull(Type.Integer()),
  outcome: Type.Enum(['winner', 'tie', 'both_bad']),
  winner_lane_id: orNull(Type.String({ format: 'uuid', description: 'By its own id, of a blind run too.' })),
  reason: orNull(Type.String()),
  created_at: Type.String({ format: 'date-time' }),
})

const StandingMembers = {
  rank: Type.Integer({ description: 'One more than the number of those that are surely better.' }),
  rating: Type.Number({ description: 'Bradley–Terry, on the scale of chess: 1000 is the middle.' }),
  rating_low: orNull(Type.Number({ description: 'Nineteen times of twenty it is between this' })),
  rating_high: orNull(
    Type.Number({ description: 'and this. Null of one that was compared too seldom to know.' }),
  ),
  wins: Type.Integer({ description: 'Against another one: a vote among three is two of them.' }),
  losses: Type.Integer(),
  ties: Type.Integer(),
  win_rate: orNull(Type.Number({ description: 'A tie is half a win.' })),
}

const VerdictAnswer = Type.Object({
  outcome: Type.Enum(['better', 'no_significant_difference', 'not_enough_votes']),
  text: Type.String(),
})

const VoteCounts = Type.Object({
  total: Type.Integer(),
  human: Type.Integer(),
  judge: Type.Integer(),
  ties: Type.Integer(),
  both_bad: Type.Integer(),
})

export const LeaderboardAnswer = Type.Object(
  {
    object: Type.Literal('compare.leaderboard'),
    data: Type.Array(Type.Object({ model: Type.String(), ...StandingMembers }), {
      description: 'Best first.',
    }),
    verdict: VerdictAnswer,
    votes: VoteCounts,
    ballots: Type.Integer({ description: 'What was voted on: several votes on one prompt are one.' }),
  },
  { title: 'CompareLeaderboard' },
)

export const RunVerdictAnswer = Type.Object(
  {
    object: Type.Literal('compare.verdict'),
    run_id: Uuid,
    verdict: VerdictAnswer,
    winner_lane_id: orNull(Type.String({ format: 'uuid', description: 'Null unless one is better.' })),
    lanes: Type.Array(
      Type.Object({ lane_id: Uuid, model: Type.String(), name: Type.String(), ...StandingMembers }),
      { description: 'Best first.' },
    ),
    votes: VoteCounts,
    ballots: Type.Integer(),
    judge: Type.Object(
      {
        pairs: Type.Integer(),
        consistent: Type.Integer(),
        inconsistent: Type.Integer({ description: 'Not counted: the winner depended on the order.' }),
        failed: Type.Integer(),
      },
      { description: 'How well the judge agreed with itself, by pairs of answers.' },
    ),
  },
  { title: 'CompareVerdict' },
)

const DiffLaneAnswer = Type.Object({
  run_id: Uuid,
  lane_id: Uuid,
  model: Type.String(),
  name: Type.String(),
})

const MeasureAnswer = orNull(
  Type.Object({
    prompts: Type.Integer(),
    mean: Type.Number(),
    against_mean: Type.Number(),
    difference: Type.Number({
      description: 'Of the means; the interval is of the same prompts in both runs.',
    }),
    difference_low: orNull(Type.Number()),
    difference_high: orNull(Type.Number()),
    verdict: Type.Enum([
      'better',
      'worse',
      'more',
      'less',
      'no_significant_difference',
      'not_enough_prompts',
    ]),
  }),
)

export const RunDiffAnswer = Type.Object(
  {
    object: Type.Literal('compare.diff'),
    run_id: Uuid,
    against_run_id: Uuid,
    dataset_id: Uuid,
    dataset_version: orNull(
      Type.String({
        description: 'Null where they differ: then prompts with the same messages are compared.',
      }),
    ),
    lanes: Type.Array(
      Type.Object({
        lane: DiffLaneAnswer,
        against: DiffLaneAnswer,
        prompts: Type.Integer(),
        measures: Type.Object({
          score: MeasureAnswer,
          latency_ms: MeasureAnswer,
          ttft_ms: MeasureAnswer,
          cost_usd: MeasureAnswer,
          completion_tokens: MeasureAnswer,
        }),
      }),
    ),
    unmatched: Type.Array(DiffLaneAnswer, { description: 'Lanes whose model only one of the runs has.' }),
  },
  { title: 'CompareDiff' },
)

export function toVoteAnswer(vote: Vote): Record<string, unknown> {
  return {
    id: vote.id,
    object: 'compare.vote',
    run_id: vote.runId,
    prompt_index: vote.promptIndex,
    repeat: vote.repeat,
    outcome: vote.outcome,
    winner_lane_id: vote.winnerLaneId,
    reason: vote.reason,
    created_at: toTimestamp(vote.createdAt.getTime()),
  }
}

export function toLeaderboardAnswer(ranking: Ranking): Record<string, unknown> {
  return {
    object: 'compare.leaderboard',
    data: ranking.standings.map((standing) => ({ model: standing.contestant, ...toStanding(standing) })),
    ...toVerdict(ranking),
  }
}

export function toRunVerdictAnswer(found: RunVerdict): Record<string, unknown> {
  const { verdict, lanes } = found
  return {
    object: 'compare.verdict',
    run_id: found.runId,
    winner_lane_id: verdict.outcome === 'better' ? verdict.contestant : null,
    lanes: found.standings.map((standing) => {
      const lane = lanes.find(({ id }) => id === standing.contestant)
      return {
        lane_id: standing.contestant,
        model: lane?.model ?? '',
        name: lane?.name ?? '',
        ...toStanding(standing),
      }
    }),
    ...toVerdict(found),
    judge: found.judge,
  }
}

export function toRunDiffAnswer(diff: RunDiff): Record<string, unknown> {
  return {
    object: 'compare.diff',
    run_id: diff.runId,
    against_run_id: diff.againstRunId,
    dataset_id: diff.datasetId,
    dataset_version: diff.datasetVersion,
    lanes: diff.lanes.map(({ lane, against, prompts, measures }) => ({
      lane: toDiffLane(lane),
      against: toDiffLane(against),
      prompts,
      measures: {
        score: toMeasure(measures.score, 4),
        latency_ms: toMeasure(measures.latency_ms, 1),
        ttft_ms: toMeasure(measures.ttft_ms, 1),
        cost_usd: toMeasure(measures.cost_nano_usd, 9, NANO),
        completion_tokens: toMeasure(measures.completion_tokens, 1),
      },
    })),
    unmatched: diff.unmatched.map(toDiffLane),
  }
}

function toVerdict({ verdict, votes, ballots }: Ranking): Record<string, unknown> {
  return {
    verdict: { outcome: verdict.outcome, text: verdict.text },
    votes: {
      total: votes.total,
      human: votes.human,
      judge: votes.judge,
      ties: votes.ties,
      both_bad: votes.bothBad,
    },
    ballots,
  }
}

function toStanding({ rank, rating, interval, wins, losses, ties }: Standing): Record<string, unknown> {
  const met = wins + losses + ties
  return {
    rank,
    rating: round(rating, 1),
    rating_low: interval === null ? null : round(interval.low, 1),
    rating_high: interval === null ? null : round(interval.high, 1),
    wins,
    losses,
    ties,
    win_rate: met === 0 ? null : round((wins + ties / 2) / met, 4),
  }
}

function toDiffLane({ runId, laneId, model, name }: DiffLane): Record<string, unknown> {
  return { run_id: runId, lane_id: laneId, model, name }
}

const NANO = 1e-9

function toMeasure(measure: MeasureDiff | null, decimals: number, unit = 1): Record<string, unknown> | null {
  if (measure === null) return null
  const { interval } = measure
  const scale = (value: number): number => round(value * unit, decimals)
  const end = (side: keyof Interval): number | null => (interval === null ? null : scale(interval[side]))
  return {
    prompts: measure.prompts,
    mean: scale(measure.mean),
    against_mean: scale(measure.againstMean),
    difference: scale(measure.difference),
    difference_low: end('low'),
    difference_high: end('high'),
    verdict: measure.verdict,
  }
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}
