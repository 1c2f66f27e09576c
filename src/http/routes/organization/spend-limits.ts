import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import type { Budget, Budgets } from '../../../modules/budgets/budgets.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { Subject } from '../../../modules/ledger/ledger.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ownProject, ProjectParams } from './own-project.ts'
import { centsFromNanoUsd, nanoUsdFromCents, SpendAmount } from './spend-amount.ts'

const limitAnswer = (owner: 'organization' | 'project') =>
  Type.Object(
    {
      object: objectName(`${owner}.spend_limit`),
      ...SpendAmount,
      enforcement: Type.Object(
        {
          status: Type.Enum(['inactive', 'enforcing'], {
            description: '`enforcing`: requests that do not fit are refused.',
          }),
        },
        { description: 'Whether the limit holds.' },
      ),
    },
    { title: owner === 'organization' ? 'OrganizationSpendLimit' : 'ProjectSpendLimit' },
  )

const LimitBody = Type.Object(SpendAmount, {
  additionalProperties: false,
  examples: [{ threshold_amount: 50_000, currency: 'USD', interval: 'month' }],
})

const deletedLimit = (owner: 'organization' | 'project') =>
  Type.Object({
    object: objectName(`${owner}.spend_limit.deleted`),
    deleted: Type.Literal(true, { description: 'Whether it is deleted now.' }),
  })

/**
 * The hard monthly limit of the account or of a project, in the form of OpenAI. It is the oldest budget of this kind: a hard one by month
 * for all models.
 */
export const spendLimitRoutes = ({ budgets }: { budgets: Budgets }): Route[] => {
  const find = async (caller: Caller, subject: Subject): Promise<Budget | undefined> =>
    (await budgets.listMonthly(caller, subject, { isHard: true })).at(-1)
  const read = async (caller: Caller, subject: Subject): Promise<Budget> => {
    const found = await find(caller, subject)
    if (found === undefined) throw notFound('spend limit')
    return found
  }
  const write = async (caller: Caller, subject: Subject, body: Static<typeof LimitBody>): Promise<Budget> => {
    const limitNanoUsd = nanoUsdFromCents(body.threshold_amount)
    const found = await find(caller, subject)
    return found === undefined
      ? budgets.create(caller, { subject, models: null, period: 'month', isHard: true, limitNanoUsd })
      : budgets.change(caller, found.id, { limitNanoUsd })
  }
  const routesOf = (
    owner: 'organization' | 'project',
    path: string,
    subjectOf: (caller: Caller, params: { project_id?: string }) => Subject,
  ): Route[] => {
    const at = owner === 'organization' ? inAccount : inProject
    const shared = {
      tag: 'Organization',
      otherErrors: [404],
      path,
      ...(owner === 'project' && { params: ProjectParams }),
    } as const
    const what = owner === 'organization' ? 'the account' : 'a project'
    return [
      defineRoute({
        ...shared,
        method: 'GET',
        access: at('usage.read'),
        summary: `Read the monthly limit of ${what}`,
        otherErrors: [404],
        responses: { 200: { description: 'The limit.', schema: limitAnswer(owner) } },
        handle: async ({ caller, params }) =>
          limitToWire(owner, await read(caller, subjectOf(caller, params ?? {}))),
      }),
      defineRoute({
        ...shared,
        method: 'POST',
        access: at('budgets.manage'),
        summary: `Set the monthly limit of ${what}`,
        body: LimitBody,
        responses: {
          200: { description: 'The limit, which holds in every process.', schema: limitAnswer(owner) },
        },
        handle: async ({ caller, params, body }) =>
          limitToWire(owner, await write(caller, subjectOf(caller, params ?? {}), body)),
      }),
      defineRoute({
        ...shared,
        method: 'DELETE',
        access: at('budgets.manage'),
        summary: `Delete the monthly limit of ${what}`,
        otherErrors: [404],
        responses: { 200: { description: 'There is no limit any more.', schema: deletedLimit(owner) } },
        handle: async ({ caller, params }) => {
          const { id } = await read(caller, subjectOf(caller, params ?? {}))
          await budgets.delete(caller, id)
          return { object: `${owner}.spend_limit.deleted`, deleted: true }
        },
      }),
    ]
  }
  return [
    ...routesOf('organization', '/v1/organization/spend_limit', () => ({ kind: 'account', value: null })),
    ...routesOf('project', '/v1/organization/projects/:project_id/spend_limit', (caller, params) => ({
      kind: 'project',
      value: ownProject(caller, params.project_id ?? ''),
    })),
  ]
}

function limitToWire(owner: 'organization' | 'project', { limitNanoUsd }: Budget): object {
  return {
    object: `${owner}.spend_limit`,
    threshold_amount: centsFromNanoUsd(limitNanoUsd),
    currency: 'USD',
    interval: 'month',
    enforcement: { status: 'enforcing' },
  }
}
