import { Type } from 'typebox'
import type {
  DiffLane,
  Interval,
  MeasureDiff,
  Ranking,
  RunDiff,
  RunVerdict,
  Standing,
} from '../../../modules/judging/judging.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { ModelId, objectName } from '../../../wires/usual-members.ts'
import { Uuid } from './compare-cell-wire.ts'
import { AgreementAnswer, toAgreement } from './vote-wire.ts'

const StandingMembers = {
  rank: Type.Integer({ description: 'One more than the number of those that are surely better.' }),
  rating: Type.Number({ description: 'Bradley–Terry, on the scale of chess: 1000 is the middle.' }),
  rating_low: orNull(Type.Number({ description: 'Nineteen times of twenty it is between this' })),
  rating_high: orNull(
    Type.Number({ description: 'and this. Null of one that was compared too seldom to know.' }),
  ),
  wins: Type.Integer({ description: 'Against another one: a vote among three is two of them.' }),
  losses: Type.Integer({ description: 'Comparisons that another one won.' }),
  ties: Type.Integer({ description: 'Comparisons without a winner: ties, and all bad.' }),
  votes: Type.Object(
    {
      won: Type.Integer({ description: 'Votes for it.' }),
      lost: Type.Integer({ description: 'Votes for another one.' }),
      tied: Type.Integer({ description: 'Votes for a tie.' }),
      both_bad: Type.Integer({ description: 'Votes that found all bad.' }),
    },
    { description: 'The votes that it took part in. A vote among three counts once here.' },
  ),
  win_rate: orNull(Type.Number({ description: 'A tie is half a win.' })),
}

const VerdictAnswer = Type.Object({
  outcome: Type.Enum(['better', 'no_significant_difference', 'not_enough_votes'], {
    description: 'Whether the votes suffice for a winner.',
  }),
  text: Type.String({ description: 'The same in words.' }),
})

const VoteCounts = Type.Object({
  total: Type.Integer({ description: 'How many there are in all.' }),
  human: Type.Integer({ description: 'Votes of people.' }),
  judge: Type.Integer({ description: 'Votes of a judge.' }),
  ties: Type.Integer({ description: 'Votes for a tie.' }),
  both_bad: Type.Integer({ description: 'Votes that found both sides bad.' }),
})

export const LeaderboardAnswer = Type.Object(
  {
    object: objectName('compare.leaderboard'),
    data: Type.Array(Type.Object({ model: ModelId, ...StandingMembers }), {
      description: 'Best first.',
    }),
    verdict: described(VerdictAnswer, 'What the figures mean: better, worse, or not certain.'),
    votes: described(VoteCounts, 'How many votes there are, by who gave them and how.'),
    ballots: Type.Integer({ description: 'What was voted on: several votes on one prompt are one.' }),
  },
  { title: 'CompareLeaderboard' },
)

export const RunVerdictAnswer = Type.Object(
  {
    object: objectName('compare.verdict'),
    run_id: described(Uuid, 'The id of the run.'),
    verdict: described(VerdictAnswer, 'What the figures mean: better, worse, or not certain.'),
    winner_lane_id: orNull(Type.String({ format: 'uuid', description: 'Null unless one is better.' })),
    lanes: Type.Array(
      Type.Object({
        lane_id: described(Uuid, 'The id of the lane.'),
        model: ModelId,
        name: Type.String({ description: 'The name of the lane.' }),
        ...StandingMembers,
      }),
      { description: 'Best first.' },
    ),
    votes: described(VoteCounts, 'How many votes there are, by who gave them and how.'),
    ballots: Type.Integer({ description: 'How many prompts, or whole runs, were voted on.' }),
    judge: Type.Object(
      {
        pairs: Type.Integer({ description: 'How many pairs of answers the judge compared.' }),
        consistent: Type.Integer({ description: 'How many of them it judged the same in both orders.' }),
        inconsistent: Type.Integer({ description: 'Not counted: the winner depended on the order.' }),
        failed: Type.Integer({ description: 'How many failed.' }),
      },
      { description: 'How well the judge agreed with itself, by pairs of answers.' },
    ),
    agreement: described(AgreementAnswer, 'How far the people who voted agree with each other.'),
  },
  { title: 'CompareVerdict' },
)

const DiffLaneAnswer = Type.Object({
  run_id: described(Uuid, 'The id of the run.'),
  lane_id: described(Uuid, 'The id of the lane.'),
  model: ModelId,
  name: Type.String({ description: 'The name of the lane.' }),
})

const MeasureAnswer = orNull(
  Type.Object({
    prompts: Type.Integer({ description: 'How many prompts were compared.' }),
    mean: Type.Number({ description: 'The mean.' }),
    against_mean: Type.Number({ description: 'The mean of the other run.' }),
    difference: Type.Number({
      description: 'Of the means; the interval is of the same prompts in both runs.',
    }),
    difference_low: orNull(Type.Number(), 'The lower end of the 95 % interval of the difference.'),
    difference_high: orNull(Type.Number(), 'The upper end of the 95 % interval of the difference.'),
    verdict: Type.Enum(
      ['better', 'worse', 'more', 'less', 'no_significant_difference', 'not_enough_prompts'],
      { description: 'What the figures mean: better, worse, or not certain.' },
    ),
  }),
)

export const RunDiffAnswer = Type.Object(
  {
    object: objectName('compare.diff'),
    run_id: described(Uuid, 'The id of the run.'),
    against_run_id: described(Uuid, 'The other run.'),
    dataset_id: orNull(Uuid, 'The dataset that the prompts of both runs come from. `null`: there is none.'),
    dataset_version: orNull(
      Type.String({
        description:
          'Null where they differ, or without a dataset: then prompts with the same messages are compared.',
      }),
    ),
    lanes: Type.Array(
      Type.Object({
        lane: described(DiffLaneAnswer, 'The lane of this run.'),
        against: described(DiffLaneAnswer, 'The lane of the other run.'),
        prompts: Type.Integer({ description: 'How many prompts were compared.' }),
        measures: Type.Object(
          {
            score: described(MeasureAnswer, 'How well the answer fits what was expected, from 0 to 1.'),
            latency_ms: described(MeasureAnswer, 'Milliseconds until the answer was complete.'),
            ttft_ms: described(MeasureAnswer, 'Milliseconds until the first token.'),
            cost_usd: described(MeasureAnswer, 'What it cost, in US dollars.'),
            completion_tokens: described(MeasureAnswer, 'Tokens of the output, with those of the reasoning.'),
          },
          { description: 'What was measured in both runs.' },
        ),
      }),
      { description: 'The lanes: models with their parameters, side by side.' },
    ),
    unmatched: Type.Array(DiffLaneAnswer, { description: 'Lanes whose model only one of the runs has.' }),
  },
  { title: 'CompareDiff' },
)

export function toLeaderboardAnswer(ranking: Ranking): Record<string, unknown> {
  return {
    object: 'compare.leaderboard',
    data: ranking.standings.map((standing) => ({
      model: standing.contestant,
      ...toStanding(standing, ranking.records),
    })),
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
        ...toStanding(standing, found.records),
      }
    }),
    ...toVerdict(found),
    judge: found.judge,
    agreement: toAgreement(found.agreement),
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

function toStanding(
  { contestant, rank, rating, interval, wins, losses, ties }: Standing,
  records: Ranking['records'],
): Record<string, unknown> {
  const { won = 0, lost = 0, tied = 0, bothBad = 0 } = records.get(contestant) ?? {}
  const met = wins + losses + ties
  return {
    rank,
    rating: round(rating, 1),
    rating_low: interval === null ? null : round(interval.low, 1),
    rating_high: interval === null ? null : round(interval.high, 1),
    wins,
    losses,
    ties,
    votes: { won, lost, tied, both_bad: bothBad },
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
