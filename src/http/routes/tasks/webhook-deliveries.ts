import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { readerOf, type Caller } from '../../../modules/keys/keys.ts'
import type { Tasks, WebhookDelivery } from '../../../modules/tasks/tasks.ts'
import { CreatedAt } from '../../../wires/usual-members.ts'
import { maskWebhook } from '../../answers/mask-webhook.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const TaskParams = Type.Object({ id: Type.String({ description: 'The id of a task.' }) })
const DeliveryParams = Type.Object({ id: Type.String({ description: 'The id of a delivery.' }) })

const DeliveryListQuery = Type.Object({
  ...ListQuery.properties,
  status: Type.Optional(
    Type.Enum(['pending', 'delivered', 'failed'], { description: 'Only those in this state.' }),
  ),
})

const DeliveryAnswer = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Sent as `webhook-id`.' }),
  task_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
    description: 'The task that it tells of.',
  }),
  budget_alert_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
    description: 'The budget alert that it tells of.',
  }),
  statement_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
    description: 'The closed month that it tells of.',
  }),
  usage_anomaly_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
    description: 'The unusual day that it tells of.',
  }),
  account_notice_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
    description: 'What else it tells of, as an automatic top-up.',
  }),
  url: Type.String({
    description:
      'The address to which it is sent. Of alerts and other notices of the account only its host is shown without `budgets.manage`.',
  }),
  status: Type.Enum(['pending', 'delivered', 'failed'], { description: 'The state it is in.' }),
  attempts: Type.Array(
    Type.Object({
      at: Type.String({ format: 'date-time', description: 'When it was tried.' }),
      status: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The HTTP status of the answer. `null` when none came.',
      }),
      error: Type.Union([Type.String(), Type.Null()], {
        description: 'Why it failed. `null` when it did not.',
      }),
      duration_ms: Type.Integer({ description: 'How long it took, in milliseconds.' }),
    }),
    { description: 'The attempts so far.' },
  ),
  next_attempt_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When it is tried again. `null`: not again.',
  }),
  created_at: CreatedAt,
  completed_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When it ended. `null` until then.',
  }),
})

interface WebhookDeliveryRouteOptions {
  readonly tasks: Pick<Tasks, 'listDeliveries' | 'listAllDeliveries' | 'redeliver'>
  readonly parseTaskId: (text: string) => string
}

/** How calling the webhooks of tasks went, and calling them again. */
export function webhookDeliveryRoutes({ tasks, parseTaskId }: WebhookDeliveryRouteOptions): Route[] {
  const shared = { tag: 'Tasks', access: inProject('models.use') } as const
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/tasks/:id/webhook-deliveries',
      summary: 'How telling the webhook of a task went',
      params: TaskParams,
      responses: {
        200: { description: 'Every try so far.', schema: listSchema('deliveries', DeliveryAnswer) },
      },
      handle: async ({ caller, params }) => {
        const items = await tasks.listDeliveries(caller, parseTaskId(params.id))
        return listAnswer('deliveries', { items, total: items.length, hasMore: false }, (delivery) =>
          toWire(delivery, caller),
        )
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/webhook-deliveries',
      summary: 'List the webhook deliveries of the account',
      query: DeliveryListQuery,
      responses: {
        200: {
          description:
            'Those of the newest task or budget alert first. A key without the scope `manage` sees those of its tasks.',
          schema: listSchema('deliveries', DeliveryAnswer),
        },
      },
      handle: async ({ caller, query }) => {
        const page = parsePageRequest(query)
        const found = await tasks.listAllDeliveries(readerOf(caller, 'log.read'), query.status ?? null, page)
        return listAnswer('deliveries', found, (delivery) => toWire(delivery, caller))
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/webhook-deliveries/:id/redeliver',
      summary: 'Call a webhook again',
      params: DeliveryParams,
      otherErrors: [409, 429],
      responses: { 200: { description: 'The delivery, due now.', schema: DeliveryAnswer } },
      handle: async ({ caller, params }) => toWire(await tasks.redeliver(caller, params.id), caller),
    }),
  ]
}

function toWire(delivery: WebhookDelivery, { permissions }: Caller): Static<typeof DeliveryAnswer> {
  const isShown = delivery.taskId !== null || permissions.has('budgets.manage')
  return {
    id: delivery.id,
    task_id: delivery.taskId,
    budget_alert_id: delivery.budgetAlertId ?? delivery.budgetWarningId,
    statement_id: delivery.statementId,
    usage_anomaly_id: delivery.usageAnomalyId,
    account_notice_id: delivery.accountNoticeId,
    url: isShown ? delivery.url : maskWebhook(delivery.url),
    status: delivery.status,
    attempts: [...delivery.attempts],
    next_attempt_at: timestampOf(delivery.nextAttemptAt),
    created_at: toTimestamp(delivery.createdAt.getTime()),
    completed_at: timestampOf(delivery.completedAt),
  }
}

function timestampOf(time: Date | null): string | null {
  return time === null ? null : toTimestamp(time.getTime())
}
