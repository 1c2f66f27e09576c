import { Type } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import type { Budgets } from '../../../modules/budgets/budgets.ts'
import { parseWireId } from '../../../wires/organization-ids.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { parseUsd } from '../../parameters/parse-usd.ts'
import { ANY_KEY, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  ApproveBody,
  NewRequestBody,
  REQUEST_STATUSES,
  RequestAnswer,
  requestToWire,
} from './budget-request-wire.ts'
import { listOf, organizationList, OrganizationListQuery, readPage } from './organization-list.ts'

const RequestParams = Type.Object({
  request_id: Type.String({ maxLength: 100, description: 'The id of a request: `budget_req_…`.' }),
})

const RequestsQuery = Type.Object({
  ...OrganizationListQuery.properties,
  status: Type.Optional(Type.Enum([...REQUEST_STATUSES], { description: 'Lists only those.' })),
})

const shared = { tag: 'Organization' } as const
const ALL = '/v1/organization/budget_requests'

/** Somebody asks for more than a budget allows, and whoever may change the budget decides. */
export const budgetRequestRoutes = ({ budgets: { requests } }: { budgets: Budgets }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: ALL,
    access: ANY_KEY,
    summary: 'List budget requests',
    query: RequestsQuery,
    responses: {
      200: {
        description: 'Those that you may decide, and your own; newest first.',
        schema: organizationList('BudgetRequestList', RequestAnswer),
      },
    },
    handle: async ({ caller, query }) =>
      listOf(
        await requests.list(caller, readPage('budgetRequest', query), query.status ?? null),
        requestToWire,
      ),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: ALL,
    access: ANY_KEY,
    summary: 'Ask for more than a budget allows',
    otherErrors: [404],
    body: NewRequestBody,
    responses: { 200: { description: 'The request, which waits.', schema: RequestAnswer } },
    handle: async ({ caller, body }) => {
      const budgetId = parseWireId('budget', body.budget_id)
      if (budgetId === null) throw notFound('budget')
      const order = {
        budgetId,
        amountNanoUsd: parseUsd('amount_usd', body.amount_usd),
        untilMs: parseTimestamp('until', body.until),
        reason: body.reason,
      }
      return requestToWire(await requests.create(caller, order))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${ALL}/:request_id/approve`,
    access: inProject('budgets.manage'),
    summary: 'Approve a budget request',
    params: RequestParams,
    body: ApproveBody,
    responses: { 200: { description: 'The request. The budget is raised.', schema: RequestAnswer } },
    handle: async ({ caller, params, body }) => {
      const { amount_usd: amount, until } = body
      const raise = {
        ...(amount !== undefined && { amountNanoUsd: parseUsd('amount_usd', amount) }),
        ...(until !== undefined && { untilMs: parseTimestamp('until', until) }),
      }
      return requestToWire(await requests.approve(caller, requestIdOf(params), raise))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${ALL}/:request_id/refuse`,
    access: inProject('budgets.manage'),
    summary: 'Refuse a budget request',
    params: RequestParams,
    responses: { 200: { description: 'The request. The budget stays.', schema: RequestAnswer } },
    handle: async ({ caller, params }) => requestToWire(await requests.refuse(caller, requestIdOf(params))),
  }),
]

function requestIdOf({ request_id: named }: { request_id: string }): string {
  const id = parseWireId('budgetRequest', named)
  if (id === null) throw notFound('budget request')
  return id
}
