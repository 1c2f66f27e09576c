import { Type } from 'typebox'
import type { RunDecision } from '../../../modules/judging/judging.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { MeanAnswer } from './compare-lane-wire.ts'
import { AgreementAnswer, toAgreement } from './vote-wire.ts'

const Uuid = Type.String({ format: 'uuid' })

export const DecisionAnswer = Type.Object(
  {
    outcome: Type.Enum(['better', 'no_clear_difference', 'not_enough_data'], {
      description: 'Whether one lane is better than all others with a confidence of 95 %.',
    }),
    basis: orNull(
      Type.Enum(['people', 'score', 'judge']),
      'What quality is known by: votes of people, scores, or votes of the judge; the first of which at least six prompts have any.',
    ),
    winner_lane_id: orNull(Uuid, 'Null unless one lane is better than all others.'),
    recommended_lane_id: orNull(Uuid, 'The winner, or the cheapest lane that is not clearly worse.'),
    confidence: orNull(
      Type.Number({ description: 'In what share of the samples the best lane is the best, from 0 to 1.' }),
    ),
    text: Type.String({ description: 'The same in sentences, with cost and time.' }),
    lanes: Type.Array(
      Type.Object({
        lane_id: described(Uuid, 'The id of the lane.'),
        quality: described(
          MeanAnswer,
          'From 0 to 1: its score, or how often it wins against a lane in the middle.',
        ),
        is_worse: Type.Boolean({ description: 'Whether the best lane is clearly better.' }),
        cost_usd: orNull(Type.Number(), 'What an answer costs, in US dollars: the mean.'),
        latency_ms: orNull(Type.Number(), 'Milliseconds until an answer was complete: the mean.'),
      }),
      { description: 'Quality against cost and time, in the order of the lanes.' },
    ),
    agreement: described(AgreementAnswer, 'How far the voters agree with each other.'),
  },
  { title: 'CompareDecision' },
)

export function toDecisionAnswer(decision: RunDecision): Record<string, unknown> {
  return {
    outcome: decision.outcome,
    basis: decision.basis,
    winner_lane_id: decision.winnerLaneId,
    recommended_lane_id: decision.recommendedLaneId,
    confidence: decision.confidence === null ? null : round(decision.confidence),
    text: decision.text,
    lanes: decision.lanes.map(({ laneId, quality, costUsd, latencyMs }) => ({
      lane_id: laneId,
      quality:
        quality === null
          ? null
          : {
              mean: round(quality.mean),
              low: round(quality.interval.low),
              high: round(quality.interval.high),
            },
      is_worse: quality?.isWorse ?? false,
      cost_usd: costUsd,
      latency_ms: latencyMs,
    })),
    agreement: toAgreement(decision.agreement),
  }
}

function round(share: number): number {
  return Number(share.toFixed(4))
}
