import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import type { Budget, Budgets } from '../../../modules/budgets/budgets.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { Subject } from '../../../modules/ledger/ledger.ts'
import type { OpenPage } from '../../../kernel/page.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { EmailAddress, PERSONS_MAX } from './budget-wire.ts'
import {
  deletedAnswer,
  listOf,
  organizationList,
  OrganizationListQuery,
  OrderedListQuery,
  PAGE_LIMIT,
  readCursor,
} from './organization-list.ts'
import { ownProject, ProjectParams } from './own-project.ts'
import { centsFromNanoUsd, nanoUsdFromCents, SpendAmount } from './spend-amount.ts'

const CLOSED = { additionalProperties: false }

const Channel = Type.Object(
  {
    type: Type.Literal('email', { description: 'Always `email`.' }),
    recipients: Type.Array(EmailAddress, {
      minItems: 1,
      maxItems: PERSONS_MAX,
      description:
        'Who gets a mail, where the operator has set up mail. Only members of the account get one.',
    }),
    subject_prefix: Type.Optional(
      orNull(
        Type.String({ maxLength: 100, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
        'The beginning of the subject of the mail.',
      ),
    ),
  },
  { ...CLOSED, description: 'How it tells.' },
)

const AlertBody = Type.Object(
  { ...SpendAmount, notification_channel: Channel },
  {
    ...CLOSED,
    examples: [
      {
        threshold_amount: 40_000,
        currency: 'USD',
        interval: 'month',
        notification_channel: { type: 'email', recipients: ['ada@example.com'] },
      },
    ],
  },
)

const alertAnswer = (owner: Owner) =>
  Type.Object(
    { id: Id, object: objectName(`${owner}.spend_alert`), ...SpendAmount, notification_channel: Channel },
    { title: owner === 'organization' ? 'OrganizationSpendAlert' : 'ProjectSpendAlert' },
  )

const AlertsQuery = Type.Object({
  ...OrganizationListQuery.properties,
  before: Type.Optional(
    Type.String({ maxLength: 256, description: 'The id of an alert; the page right before it follows.' }),
  ),
  order: OrderedListQuery.properties.order,
})

type Owner = 'organization' | 'project'

const AlertParams = {
  alert_id: Type.String({ maxLength: 100, description: 'The id of a spend alert.' }),
}

/**
 * Alerts when an amount is spent in a month, in the form of OpenAI: budgets by month for all models that only warn, and that tell people
 * by mail.
 */
export const spendAlertRoutes = ({ budgets }: { budgets: Budgets }): Route[] => [
  ...routesOf(budgets, 'organization', '/v1/organization/spend_alerts', () => ({
    kind: 'account',
    value: null,
  })),
  ...routesOf(budgets, 'project', '/v1/organization/projects/:project_id/spend_alerts', (caller, params) => ({
    kind: 'project',
    value: ownProject(caller, params.project_id ?? ''),
  })),
]

function routesOf(
  budgets: Budgets,
  owner: Owner,
  path: string,
  subjectOf: (caller: Caller, params: { project_id?: string }) => Subject,
): Route[] {
  const at = owner === 'organization' ? inAccount : inProject
  const shared = { tag: 'Organization' } as const
  const listParams = owner === 'project' ? ProjectParams.properties : {}
  const Params = Type.Object({ ...listParams })
  const ItemParams = Type.Object({ ...listParams, ...AlertParams })
  const item = `${path}/:alert_id`
  const what = owner === 'organization' ? 'the account' : 'a project'
  const toWire = (budget: Budget) => alertToWire(owner, budget)
  const find = async (caller: Caller, params: { project_id?: string; alert_id: string }): Promise<Budget> => {
    const id = parseWireId('budget', params.alert_id)
    const subject = subjectOf(caller, params)
    const found = id === null ? null : await budgets.read(caller, id).catch(() => null)
    if (found === null || !isAlertOf(found, subject)) throw notFound('spend alert')
    return found
  }
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      access: at('usage.read'),
      path,
      summary: `List the spend alerts of ${what}`,
      params: Params,
      query: AlertsQuery,
      responses: {
        200: {
          description: 'The newest first, unless `order` says otherwise.',
          schema: organizationList(
            owner === 'organization' ? 'OrganizationSpendAlertList' : 'ProjectSpendAlertList',
            alertAnswer(owner),
          ),
        },
      },
      handle: async ({ caller, params, query }) => {
        const all = await budgets.listMonthly(caller, subjectOf(caller, params), { isHard: false })
        return listOf(pageOf(all, query), toWire)
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      access: at('budgets.manage'),
      path,
      summary: `Create a spend alert of ${what}`,
      params: Params,
      body: AlertBody,
      responses: { 200: { description: 'The alert.', schema: alertAnswer(owner) } },
      handle: async ({ caller, params, body }) => {
        const subject = subjectOf(caller, params)
        const order = { subject, models: null, period: 'month', isHard: false } as const
        return toWire(
          await budgets.create(caller, { ...order, ...changesOf(body), thresholdsPercent: [100] }),
        )
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      access: at('usage.read'),
      path: item,
      summary: `Read a spend alert of ${what}`,
      params: ItemParams,
      responses: { 200: { description: 'The alert.', schema: alertAnswer(owner) } },
      handle: async ({ caller, params }) => toWire(await find(caller, params)),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      access: at('budgets.manage'),
      path: item,
      summary: `Change a spend alert of ${what}`,
      params: ItemParams,
      body: AlertBody,
      responses: { 200: { description: 'The alert as it now is.', schema: alertAnswer(owner) } },
      handle: async ({ caller, params, body }) => {
        const { id } = await find(caller, params)
        return toWire(await budgets.change(caller, id, changesOf(body)))
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      access: at('budgets.manage'),
      path: item,
      summary: `Delete a spend alert of ${what}`,
      params: ItemParams,
      responses: {
        200: {
          description: 'It tells nobody any more.',
          schema: deletedAnswer(`${owner}.spend_alert.deleted`),
        },
      },
      handle: async ({ caller, params }) => {
        const { id } = await find(caller, params)
        await budgets.delete(caller, id)
        return { object: `${owner}.spend_alert.deleted`, id: wireId('budget', id), deleted: true }
      },
    }),
  ]
}

/** @param newest all of one owner, of which there are few */
function pageOf(newest: readonly Budget[], query: Static<typeof AlertsQuery>): OpenPage<Budget> {
  const { limit = PAGE_LIMIT, order = 'desc' } = query
  const afterId = readCursor('budget', 'after', query.after)
  const beforeId = readCursor('budget', 'before', query.before)
  const isBehind = (id: string, other: string): boolean => (order === 'desc' ? id < other : id > other)
  const part = (order === 'desc' ? newest : newest.toReversed()).filter(
    ({ id }) => (afterId === null || isBehind(id, afterId)) && (beforeId === null || isBehind(beforeId, id)),
  )
  const isBackwards = beforeId !== null && afterId === null
  return { items: isBackwards ? part.slice(-limit) : part.slice(0, limit), hasMore: part.length > limit }
}

function isAlertOf({ subject, period, models, isHard }: Budget, wanted: Subject): boolean {
  const isSame = subject.kind === wanted.kind && subject.value === wanted.value
  return isSame && period === 'month' && models === null && !isHard
}

function changesOf({ threshold_amount: cents, notification_channel: channel }: Static<typeof AlertBody>) {
  return {
    limitNanoUsd: nanoUsdFromCents(cents),
    emailRecipients: channel.recipients,
    emailSubjectPrefix: channel.subject_prefix ?? null,
  }
}

function alertToWire(owner: Owner, budget: Budget) {
  return {
    id: wireId('budget', budget.id),
    object: `${owner}.spend_alert`,
    threshold_amount: centsFromNanoUsd(budget.limitNanoUsd),
    currency: 'USD',
    interval: 'month',
    notification_channel: {
      type: 'email',
      recipients: [...budget.emailRecipients],
      subject_prefix: budget.emailSubjectPrefix,
    },
  }
}
