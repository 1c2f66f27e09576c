import { Type } from 'typebox'
import { voterOf, type Judging } from '../../../modules/judging/judging.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { LeaderboardAnswer, toLeaderboardAnswer } from './judging-wire.ts'

const LeaderboardQuery = Type.Object({
  run_id: Type.Optional(Type.String({ format: 'uuid', description: 'Votes on one run.' })),
  dataset_id: Type.Optional(Type.String({ format: 'uuid', description: 'Votes on runs of one dataset.' })),
  since: Type.Optional(Type.String({ description: 'Votes from this time on.' })),
  source: Type.Optional(Type.Enum(['human', 'judge'], { description: 'Votes of people, or of judges.' })),
})

export const compareLeaderboardRoutes = ({ judging }: { judging: Judging }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/compare/leaderboard',
    summary: 'Rank models by the votes of the account',
    tag: 'Compare',
    access: inProject('models.use', 'compare.manage'),
    query: LeaderboardQuery,
    otherErrors: [404],
    responses: {
      200: {
        description:
          'By the newest 20,000 votes that fit. With `run_id`, `dataset_id` or `since`, those of blind runs on prompts that you voted on.',
        schema: LeaderboardAnswer,
      },
    },
    handle: async ({ caller, query }) => {
      const { run_id: runId = null, dataset_id: datasetId = null, since, source = null } = query
      const from = since === undefined ? null : new Date(parseTimestamp('since', since))
      const filter = { runId, datasetId, since: from, source }
      return toLeaderboardAnswer(await judging.readLeaderboard(caller, filter, voterOf(caller)))
    },
  }),
]
