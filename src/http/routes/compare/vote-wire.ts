import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Agreement, GivenVote, Vote } from '../../../modules/judging/judging.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { Uuid } from './compare-cell-wire.ts'

export const VoteAnswer = Type.Object({
  id: UuidId,
  object: objectName('compare.vote'),
  run_id: described(Uuid, 'The id of the run.'),
  prompt_index: orNull(Type.Integer(), 'The position of the prompt, from 0.'),
  repeat: orNull(Type.Integer(), 'Which of the repeats it is, from 0.'),
  outcome: Type.Enum(['winner', 'tie', 'both_bad'], { description: 'What was voted.' }),
  winner_lane_id: orNull(Type.String({ format: 'uuid', description: 'By its own id, of a blind run too.' })),
  reason: orNull(Type.String(), 'Why, in words.'),
  created_at: CreatedAt,
})

export const GivenVoteAnswer = Type.Object(
  {
    ...VoteAnswer.properties,
    voter_id: described(
      Uuid,
      'Who voted: the id of a person or a service account, or of a key that belongs to nobody.',
    ),
    is_own: Type.Boolean({ description: 'Whether it is yours.' }),
  },
  { title: 'CompareVote' },
)

export const AgreementAnswer = Type.Object(
  {
    voters: Type.Integer({ description: 'How many people voted.' }),
    shared: Type.Integer({ description: 'On how many prompts, repeats or runs at least two of them voted.' }),
    equal_share: orNull(
      Type.Number(),
      'The share of pairs of votes on the same that are equal, from 0 to 1. `null`: there are none.',
    ),
    krippendorff_alpha: orNull(
      Type.Number(),
      "Krippendorff's alpha of the votes: 1 if all agree, 0 if as often as by chance. `null`: it cannot be told.",
    ),
  },
  { title: 'CompareAgreement' },
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

export function toGivenVoteAnswer(vote: GivenVote): Record<string, unknown> {
  return { ...toVoteAnswer(vote), voter_id: vote.voterId, is_own: vote.isOwn }
}

export function toAgreement({ voters, shared, equalShare, alpha }: Agreement): Record<string, unknown> {
  return {
    voters,
    shared,
    equal_share: equalShare === null ? null : roundShare(equalShare),
    krippendorff_alpha: alpha === null ? null : roundShare(alpha),
  }
}

function roundShare(value: number): number {
  return Number(value.toFixed(4))
}
