import { Type } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Budgets } from '../../../modules/budgets/budgets.ts'
import type { Catalog } from '../../../modules/catalog/catalog.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { SUBJECT_KINDS, subjectText } from '../../../modules/ledger/ledger.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { parseUsd } from '../../parameters/parse-usd.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  BudgetAnswer,
  BudgetChangesBody,
  budgetToWire,
  changesFromWire,
  NewBudgetBody,
  parseSubjectWire,
  RaiseBody,
} from './budget-wire.ts'
import { WarningAnswer, warningAnswer } from './budget-warning-wire.ts'
import {
  deletedAnswer,
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
} from './organization-list.ts'

const BudgetParams = Type.Object({
  budget_id: Type.String({ maxLength: 100, description: 'The id of a budget: `budget_…`.' }),
})

const BudgetsQuery = Type.Object({
  ...OrganizationListQuery.properties,
  subject_type: Type.Optional(
    Type.Enum([...SUBJECT_KINDS], { description: 'Lists only budgets of things of this kind.' }),
  ),
  subject_id: Type.Optional(
    Type.String({ maxLength: 256, description: 'Lists only those of this one. Needs `subject_type`.' }),
  ),
})

const shared = { tag: 'Organization', access: ANY_KEY } as const
const ITEM = '/v1/organization/budgets/:budget_id'

interface BudgetRouteOptions {
  readonly budgets: Budgets
  readonly catalog: Pick<Catalog, 'resolveFor'>
}

/** Everybody sees the budgets that limit them; who may change one is decided by its level. */
export const budgetRoutes = ({ budgets, catalog }: BudgetRouteOptions): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/budgets',
    summary: 'List budgets',
    query: BudgetsQuery,
    responses: {
      200: {
        description: 'The budgets, newest first.',
        schema: organizationList('BudgetList', BudgetAnswer),
      },
    },
    handle: async ({ caller, query }) => {
      const { subject_type: kind = null, subject_id: id } = query
      const subject =
        kind === null || id === undefined ? null : subjectText(parseSubjectWire(kind, id, caller.accountId))
      return listOf(await budgets.list(caller, readPage('budget', query), { kind, subject }), (budget) =>
        budgetToWire(budget, caller),
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/budgets',
    summary: 'Create a budget',
    otherErrors: [404],
    body: NewBudgetBody,
    responses: { 200: { description: 'The budget. It holds in every process.', schema: BudgetAnswer } },
    handle: async ({ caller, body }) => {
      const { subject, models = null, window: period } = body
      const budget = await budgets.create(caller, {
        ...changesFromWire(body),
        subject: parseSubjectWire(subject.type, subject.id, caller.accountId),
        models: models && models.map((name) => modelIdOf(catalog, caller, name)),
        period,
        limitNanoUsd: parseUsd('limit_usd', body.limit_usd),
      })
      return budgetToWire(budget, caller)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: ITEM,
    summary: 'Read a budget',
    params: BudgetParams,
    responses: { 200: { description: 'The budget.', schema: BudgetAnswer } },
    handle: async ({ caller, params }) =>
      budgetToWire(await budgets.read(caller, budgetIdOf(params)), caller),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: ITEM,
    summary: 'Change a budget',
    params: BudgetParams,
    body: BudgetChangesBody,
    responses: { 200: { description: 'The budget as it now is in every process.', schema: BudgetAnswer } },
    handle: async ({ caller, params, body }) =>
      budgetToWire(await budgets.change(caller, budgetIdOf(params), changesFromWire(body)), caller),
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: ITEM,
    summary: 'Delete a budget',
    params: BudgetParams,
    responses: {
      200: {
        description: 'It limits nothing any more.',
        schema: deletedAnswer('organization.budget.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const id = budgetIdOf(params)
      await budgets.delete(caller, id)
      return { object: 'organization.budget.deleted', id: wireId('budget', id), deleted: true }
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${ITEM}/raise`,
    summary: 'Raise a budget for a while',
    params: BudgetParams,
    body: RaiseBody,
    responses: { 200: { description: 'The budget with its raise.', schema: BudgetAnswer } },
    handle: async ({ caller, params, body }) => {
      const raise = {
        amountNanoUsd: parseUsd('amount_usd', body.amount_usd),
        untilMs: parseTimestamp('until', body.until),
      }
      return budgetToWire(await budgets.raise(caller, budgetIdOf(params), raise), caller)
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${ITEM}/raise`,
    summary: 'End the raise of a budget',
    params: BudgetParams,
    responses: { 200: { description: 'The budget without a raise.', schema: BudgetAnswer } },
    handle: async ({ caller, params }) =>
      budgetToWire(await budgets.raise(caller, budgetIdOf(params), null), caller),
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${ITEM}/alerts`,
    summary: 'List the alerts of a budget',
    params: BudgetParams,
    query: OrganizationListQuery,
    responses: {
      200: {
        description: 'Newest first: one for each threshold and window.',
        schema: organizationList('OrganizationBudgetAlertList', WarningAnswer),
      },
    },
    handle: async ({ caller, params, query }) =>
      // Alerts have plain ids.
      listOf(
        await budgets.listWarnings(caller, budgetIdOf(params), readPage('budget', query)),
        warningAnswer,
      ),
  }),
]

function budgetIdOf({ budget_id: named }: { budget_id: string }): string {
  const id = parseWireId('budget', named)
  if (id === null) throw notFound('budget')
  return id
}

/** What is charged has the id of the model that answered: a budget for another name would count nothing. */
function modelIdOf(catalog: BudgetRouteOptions['catalog'], caller: Caller, name: string): string {
  const model = catalog.resolveFor(caller, name)
  if (model === undefined) throw invalidValue('models', `There is no model '${name}'.`)
  return model.id
}
