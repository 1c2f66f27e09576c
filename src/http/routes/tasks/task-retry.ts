import { Type } from 'typebox'
import type { Generation } from '../../../modules/generation/generation.ts'
import { TaskReceipt, type RunGeneration } from '../../paid/run-generation.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { parseTaskId } from './tasks.ts'

interface TaskRetryOptions {
  readonly generation: Pick<Generation, 'repeat'>
  readonly runGeneration: RunGeneration
}

const TaskParams = Type.Object({ id: Type.String({ description: 'The id of a task.' }) })

export const taskRetryRoutes = ({ generation, runGeneration }: TaskRetryOptions): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/tasks/:id/retry',
    takesTags: 'header',
    summary: 'Make another task with the parameters of a task',
    tag: 'Tasks',
    access: inProject('models.use'),
    params: TaskParams,
    otherErrors: [409],
    responses: { 202: { description: 'The new task.', schema: TaskReceipt } },
    handle: async (request) => {
      const order = await generation.repeat(request.caller, parseTaskId(request.params.id))
      const body = { webhook_url: order.webhookUrl, metadata: order.metadata }
      // Also a model that answers at once makes a task, because what is repeated was one.
      const headers = { ...request.headers, prefer: 'respond-async' }
      return runGeneration({ ...request, body, headers }, order)
    },
  }),
]
