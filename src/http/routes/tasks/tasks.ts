import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import { readerOf } from '../../../modules/keys/keys.ts'
import { TASK_STATUSES, TASK_TYPES, type Task, type Tasks } from '../../../modules/tasks/tasks.ts'
import { CreatedAt, objectName } from '../../../wires/usual-members.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import { ListQuery, listAnswer, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { webhookDeliveryRoutes } from './webhook-deliveries.ts'
import { pollHeadersOf, TaskAnswer, toTaskAnswer } from './task-wire.ts'

const WAIT_SECONDS_MAX = 60

const TaskParams = Type.Object({ id: Type.String({ description: 'The id of a task.' }) })

const TaskListQuery = Type.Object({
  ...ListQuery.properties,
  status: Type.Optional(Type.Enum([...TASK_STATUSES], { description: 'Only tasks in this state.' })),
  task_type: Type.Optional(Type.Enum([...TASK_TYPES], { description: 'Only tasks that make this.' })),
  model: Type.Optional(Type.String({ maxLength: 200, description: 'Only tasks of this model, by its id.' })),
})

const TaskQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: WAIT_SECONDS_MAX,
      description: 'Seconds to wait for the next change of its status.',
    }),
  ),
})

export const taskRoutes = ({ tasks }: { tasks: Tasks }): Route[] => {
  const shared = { tag: 'Tasks', access: inProject('models.use') } as const

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/tasks',
      summary: 'List tasks',
      query: TaskListQuery,
      responses: {
        200: {
          description:
            'The tasks of the account, newest first. A key without the scope `manage` sees its own.',
          schema: listSchema('tasks', TaskAnswer),
        },
      },
      handle: async ({ caller, query, headers }) => {
        const filter = { status: query.status, type: query.task_type, model: query.model }
        return listAnswer(
          'tasks',
          await tasks.list(readerOf(caller, 'log.read'), filter, parsePageRequest(query), baseUrlOf(headers)),
          toTaskAnswer,
        )
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/tasks/:id',
      summary: 'Read a task, now or after its next change',
      params: TaskParams,
      query: TaskQuery,
      responses: {
        200: { description: 'The task. One that has not ended says when to look again.', schema: TaskAnswer },
      },
      handle: async ({ caller, params, query, exchange, headers, reply }) => {
        const id = parseTaskId(params.id)
        const { wait: seconds = 0 } = query
        const { cancellation } = exchange
        const baseUrl = baseUrlOf(headers)
        const task =
          seconds > 0
            ? await tasks.readAfterChange(caller, id, { seconds, cancellation, baseUrl })
            : await tasks.read(caller, id, baseUrl)
        return sendTask(reply, task)
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/tasks/:id/cancel',
      summary: 'Cancel a task',
      params: TaskParams,
      responses: {
        200: {
          description:
            'The task, with what was given back. Work that a provider had begun and bills is charged.',
          schema: TaskAnswer,
        },
      },
      handle: async ({ caller, params }) => toTaskAnswer(await tasks.cancel(caller, parseTaskId(params.id))),
    }),
    ...webhookDeliveryRoutes({ tasks, parseTaskId }),
    ...webhookSecretRoutes(tasks),
  ]
}

const SecretAnswer = Type.Object({
  object: objectName('webhook_secret'),
  secret: Type.String({ description: '`whsec_…`, as Standard Webhooks has it.' }),
  created_at: CreatedAt,
  previous_valid_until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'Until then the secret before it signs too.',
  }),
})

function webhookSecretRoutes(tasks: Tasks): Route[] {
  const shared = { tag: 'Tasks', access: inAccount('credentials.manage') } as const
  const toWire = ({ secret, createdAt, previousUntil }: Awaited<ReturnType<Tasks['readWebhookSecret']>>) => ({
    object: 'webhook_secret',
    secret,
    created_at: timestampOf(createdAt),
    previous_valid_until: timestampOf(previousUntil),
  })
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/tenants/me/webhook-secret',
      summary: 'Read the secret that signs webhooks',
      responses: { 200: { description: 'Made at the first look.', schema: SecretAnswer } },
      handle: async ({ caller }) => toWire(await tasks.readWebhookSecret(caller.accountId)),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/tenants/me/webhook-secret/rotate',
      summary: 'Make a new secret that signs webhooks',
      responses: { 200: { description: 'The old one signs too for a day.', schema: SecretAnswer } },
      handle: async ({ caller }) => toWire(await tasks.rotateWebhookSecret(caller.accountId)),
    }),
  ]
}

function sendTask(
  reply: RouteRequest<unknown, unknown, unknown>['reply'],
  task: Task,
): Record<string, unknown> {
  reply.headers(pollHeadersOf(task))
  return toTaskAnswer(task)
}

export function parseTaskId(text: string): string {
  if (isUuid(text)) return text
  throw invalidValue('task_id', 'The id of a task is a UUID.')
}

function timestampOf(date: Date | null): string | null {
  return date === null ? null : toTimestamp(date.getTime())
}
