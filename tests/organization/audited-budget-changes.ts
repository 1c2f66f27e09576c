import type { TestGateway } from '../support/start-test-gateway.ts'
import type { Prepare } from './audited-changes.ts'
import { createProject } from './join-account.ts'

const BUDGETS = '/v1/organization/budgets'
const REQUESTS = '/v1/organization/budget_requests'
const AMOUNT = { threshold_amount: 40_000, currency: 'USD', interval: 'month' }
const ALERT = { ...AMOUNT, notification_channel: { type: 'email', recipients: ['ada@example.com'] } }
const until = (): string => new Date(Date.now() + 86_400_000).toISOString()

async function post(gateway: TestGateway, path: string, body: object): Promise<string> {
  const { body: answer } = await gateway.request('POST', path, { body })
  return String(answer.id)
}

let tags = 0

function createBudget(gateway: TestGateway): Promise<string> {
  tags += 1
  const subject = { type: 'tag', id: `audited=${tags}` }
  return post(gateway, BUDGETS, { subject, window: 'month', limit_usd: 5 })
}

async function createRequest(gateway: TestGateway): Promise<{ request_id: string }> {
  const subject = { type: 'account' }
  const budget_id = await post(gateway, BUDGETS, { subject, window: 'day', limit_usd: 500 })
  const body = { budget_id, amount_usd: 20, until: until(), reason: 'A launch' }
  return { request_id: await post(gateway, REQUESTS, body) }
}

/** The routes of budgets that change something, like `AUDITED_CHANGES`. */
export const AUDITED_BUDGET_CHANGES: Readonly<Record<string, Prepare>> = {
  [`POST ${BUDGETS}`]: async () => ({
    type: 'budget.created',
    body: { subject: { type: 'account' }, window: 'total', limit_usd: 500 },
  }),
  [`POST ${BUDGETS}/{budget_id}`]: async (gateway) => ({
    type: 'budget.updated',
    params: { budget_id: await createBudget(gateway) },
    body: { limit_usd: 6 },
  }),
  [`DELETE ${BUDGETS}/{budget_id}`]: async (gateway) => ({
    type: 'budget.deleted',
    params: { budget_id: await createBudget(gateway) },
  }),
  [`POST ${BUDGETS}/{budget_id}/raise`]: async (gateway) => ({
    type: 'budget.raised',
    params: { budget_id: await createBudget(gateway) },
    body: { amount_usd: 50, until: until() },
  }),
  [`DELETE ${BUDGETS}/{budget_id}/raise`]: async (gateway) => {
    const budget_id = await createBudget(gateway)
    await post(gateway, `${BUDGETS}/${budget_id}/raise`, { amount_usd: 50, until: until() })
    return { type: 'budget.updated', params: { budget_id } }
  },
  [`POST ${REQUESTS}`]: async (gateway) => {
    const subject = { type: 'account' }
    const budget_id = await post(gateway, BUDGETS, { subject, window: 'week', limit_usd: 500 })
    return {
      type: 'budget_request.created',
      body: { budget_id, amount_usd: 20, until: until(), reason: 'A launch' },
    }
  },
  [`POST ${REQUESTS}/{request_id}/approve`]: async (gateway) => ({
    type: 'budget_request.approved',
    params: await createRequest(gateway),
    body: {},
  }),
  [`POST ${REQUESTS}/{request_id}/refuse`]: async (gateway) => ({
    type: 'budget_request.refused',
    params: await createRequest(gateway),
  }),
  ...ofSpending('/v1/organization', async () => ({})),
  ...ofSpending('/v1/organization/projects/{project_id}', async (gateway) => ({
    project_id: await createProject(gateway),
  })),
}

/** Limits and alerts are budgets: their entries are of those. */
function ofSpending(
  path: string,
  prepare: (gateway: TestGateway) => Promise<Readonly<Record<string, string>>>,
): Record<string, Prepare> {
  const place = (params: Readonly<Record<string, string>>) =>
    path.replace('{project_id}', params['project_id'] ?? '')
  const withAlert = async (gateway: TestGateway) => {
    const params = await prepare(gateway)
    return { ...params, alert_id: await post(gateway, `${place(params)}/spend_alerts`, ALERT) }
  }
  return {
    [`POST ${path}/spend_limit`]: async (gateway) => ({
      type: 'budget.created',
      params: await prepare(gateway),
      body: AMOUNT,
      resourceId: null,
    }),
    [`DELETE ${path}/spend_limit`]: async (gateway) => {
      const params = await prepare(gateway)
      await post(gateway, `${place(params)}/spend_limit`, AMOUNT)
      return { type: 'budget.deleted', params, resourceId: null }
    },
    [`POST ${path}/spend_alerts`]: async (gateway) => ({
      type: 'budget.created',
      params: await prepare(gateway),
      body: ALERT,
      resourceId: null,
    }),
    [`POST ${path}/spend_alerts/{alert_id}`]: async (gateway) => ({
      type: 'budget.updated',
      params: await withAlert(gateway),
      body: { ...ALERT, threshold_amount: 50_000 },
      resourceId: null,
    }),
    [`DELETE ${path}/spend_alerts/{alert_id}`]: async (gateway) => ({
      type: 'budget.deleted',
      params: await withAlert(gateway),
      resourceId: null,
    }),
  }
}
