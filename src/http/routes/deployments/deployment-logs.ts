import { Type } from 'typebox'
import type { Deployments } from '../../../modules/deployments/deployments.ts'
import { followUntilShutdown } from '../../answers/follow-until-shutdown.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const LINES_MAX = 1_000
const LINES_DEFAULT = 200

const Params = Type.Object({ id: Type.String({ description: 'The id of a deployment.' }) })
const LogQuery = Type.Object({
  lines: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LINES_MAX,
      default: LINES_DEFAULT,
      description: 'The largest number of lines to return.',
    }),
  ),
  follow: Type.Optional(
    Type.Boolean({ description: 'Return a stream of events, one for each line, until the deployment ends.' }),
  ),
})
const LogAnswer = Type.Object(
  {
    deployment_id: Type.String({ format: 'uuid', description: 'The id of the deployment.' }),
    lines: Type.Array(Type.String(), { description: 'The last lines of the engine, oldest first.' }),
  },
  { title: 'DeploymentLogs' },
)

/** Routes for the logs of a deployment's engine. */
export const deploymentLogRoutes = ({
  deployments,
}: {
  deployments: Pick<Deployments, 'readLogs' | 'followLogs'>
}): Route[] => [
  defineRoute({
    tag: 'Deployments',
    access: inProject('deployments.read'),
    method: 'GET',
    path: '/v1/deployments/:id/logs',
    summary: 'Read the log of the engine of a deployment',
    params: Params,
    query: LogQuery,
    otherErrors: [429],
    responses: {
      200: {
        description:
          'Of its last run; with `follow` events `{"type":"line","run_id","line"}`, one `{"type":"end","reason"}`, and `[DONE]`.',
        schema: LogAnswer,
        otherTypes: { 'text/event-stream': Type.String() },
      },
    },
    handle: async ({ caller, params, query, exchange, reply }) => {
      const linesMax = query.lines ?? LINES_DEFAULT
      if (query.follow !== true) {
        const lines = await deployments.readLogs(caller, params.id, linesMax)
        return { deployment_id: params.id, lines: [...lines] }
      }
      const { cancellation } = exchange
      const events = await deployments.followLogs(caller, params.id, { linesMax, cancellation })
      await sendEventReply(reply, followUntilShutdown(events, exchange), exchange)
      return undefined
    },
  }),
]
