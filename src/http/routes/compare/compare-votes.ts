import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Compare } from '../../../modules/compare/compare.ts'
import { voterOf, type Judging, type VoteOrder } from '../../../modules/judging/judging.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { described } from '../../../wires/described.ts'
import { nullable } from '../../../wires/nullable.ts'
import { ListQuery, listAnswer, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { RunAnswer, toRunAnswer } from './compare-wire.ts'
import { RunDiffAnswer, RunVerdictAnswer, toRunDiffAnswer, toRunVerdictAnswer } from './judging-wire.ts'
import { GivenVoteAnswer, toGivenVoteAnswer, toVoteAnswer, VoteAnswer } from './vote-wire.ts'

const RunParams = Type.Object({ run_id: Type.String({ description: 'The id of a run.' }) })

const WinnerParams = Type.Object({
  ...RunParams.properties,
  lane_id: Type.String({
    description: 'The id of a lane; of a blind run, as the results of the prompt name it.',
  }),
})

const WinnerBody = Type.Object({
  prompt_index: nullable(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'Of one prompt; without it of the whole run.',
    }),
  ),
  repeat: nullable(Type.Integer({ minimum: 0, maximum: 9, description: 'Of one repeat of the prompt.' })),
  tie: nullable(Type.Boolean({ description: 'No lane is better, whichever is named.' })),
  both_bad: nullable(Type.Boolean({ description: 'No lane is any good. Counts as a tie.' })),
  reason: nullable(Type.String({ maxLength: 10_000 }), 'Why, in words.'),
})

const DiffQuery = Type.Object({
  against: Type.String({ description: 'The id of another run of the same dataset.' }),
})

interface CompareVoteRouteOptions {
  readonly judging: Judging
  readonly compare: Pick<Compare, 'read'>
}

export const compareVoteRoutes = ({ judging, compare }: CompareVoteRouteOptions): Route[] => {
  const shared = { tag: 'Compare', access: inProject('models.use', 'compare.manage') } as const
  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/compare/runs/:run_id/lanes/:lane_id/winner',
      summary: 'Vote for a lane, of a run or of one prompt',
      params: WinnerParams,
      body: WinnerBody,
      responses: {
        200: {
          description: 'The run with the vote. Voting again takes the place of the vote before.',
          schema: Type.Object({
            ...RunAnswer.properties,
            vote: described(VoteAnswer, 'The vote as it was counted.'),
          }),
        },
      },
      handle: async ({ caller, params, body }) => {
        const voter = voterOf(caller)
        const vote = await judging.vote({
          place: caller,
          voter,
          runId: params.run_id,
          laneId: params.lane_id,
          ...readVote(body),
        })
        const run = await compare.read(caller, vote.runId)
        return { ...toRunAnswer(run, await judging.viewRun(run, voter)), vote: toVoteAnswer(vote) }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/runs/:run_id/votes',
      summary: 'List the votes of people on a run',
      params: RunParams,
      query: ListQuery,
      responses: {
        200: {
          description: 'Newest first. Of a blind run, those on prompts that you voted on.',
          schema: listSchema('votes', GivenVoteAnswer),
        },
      },
      handle: async ({ caller, params, query }) => {
        const run = await compare.read(caller, params.run_id)
        const page = await judging.listVotes(run, voterOf(caller), parsePageRequest(query))
        return listAnswer('votes', page, toGivenVoteAnswer)
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/runs/:run_id/verdict',
      summary: 'Which lane is better, by all votes of a run',
      params: RunParams,
      responses: { 200: { description: 'A ranking, and what it means.', schema: RunVerdictAnswer } },
      handle: async ({ caller, params }) =>
        toRunVerdictAnswer(await judging.readVerdict(caller, params.run_id, voterOf(caller))),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/runs/:run_id/diff',
      summary: 'What changed since another run of the same prompts',
      params: RunParams,
      query: DiffQuery,
      responses: {
        200: {
          description: 'Lane by lane, over the prompts that both runs answered.',
          schema: RunDiffAnswer,
        },
      },
      handle: async ({ caller, params, query }) => {
        const runs = { runId: params.run_id, againstRunId: query.against }
        const diff = await judging.diffRuns(caller, runs)
        await requireShown({ judging, compare }, caller, [runs.runId, runs.againstRunId])
        return toRunDiffAnswer(diff)
      },
    }),
  ]
}

/** Refuses runs whose lanes are hidden from this key. */
async function requireShown(
  { judging, compare }: CompareVoteRouteOptions,
  caller: Caller,
  runIds: readonly string[],
): Promise<void> {
  const runs = await Promise.all(runIds.map((runId) => compare.read(caller, runId)))
  const viewOf = await judging.viewRuns(runs, voterOf(caller))
  if (runs.some((run) => viewOf(run).isHidden()))
    throw invalidValue('against', 'The lanes of a blind run cannot be compared until you vote on the run.')
}

function readVote(
  body: Static<typeof WinnerBody>,
): Pick<VoteOrder, 'promptIndex' | 'repeat' | 'outcome' | 'reason'> {
  const { prompt_index: promptIndex = null, repeat = null, reason = null } = body
  if (body.tie === true && body.both_bad === true)
    throw invalidValue('both_bad', "Send either 'tie' or 'both_bad', not both.")
  const outcome = body.tie === true ? 'tie' : body.both_bad === true ? 'both_bad' : 'winner'
  return { promptIndex, repeat, outcome, reason }
}
