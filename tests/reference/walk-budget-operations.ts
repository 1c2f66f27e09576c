import type { MakeCall } from './walk-call.ts'

const BUDGET = '/v1/organization/budgets/{budget_id}'
const REQUESTS = '/v1/organization/budget_requests'

/** Operations on the budgets of the caller's account and of a project of it. */
export async function walkBudgets(call: MakeCall, project: { project_id: string }): Promise<void> {
  const created = await call('POST /v1/organization/budgets')
  const params = { budget_id: String(created.id) }
  await call('GET /v1/organization/budgets')
  await call(`GET ${BUDGET}`, { params })
  await call(`POST ${BUDGET}`, { params })
  const until = new Date(Date.now() + 86_400_000).toISOString()
  await call(`POST ${BUDGET}/raise`, { params, body: { amount_usd: 50, until } })
  await call(`DELETE ${BUDGET}/raise`, { params })
  await call(`GET ${BUDGET}/alerts`, { params })
  const body = { ...params, amount_usd: 20, until, reason: 'The launch is on Friday.' }
  const asked = await call(`POST ${REQUESTS}`, { body })
  const again = await call(`POST ${REQUESTS}`, { body })
  await call(`GET ${REQUESTS}`)
  await call(`POST ${REQUESTS}/{request_id}/approve`, { params: { request_id: asked.id }, body: {} })
  await call(`POST ${REQUESTS}/{request_id}/refuse`, { params: { request_id: again.id }, body: null })
  await call(`DELETE ${BUDGET}`, { params })
  await walkSpend(call, '/v1/organization', {})
  await walkSpend(call, '/v1/organization/projects/{project_id}', project)
}

async function walkSpend(call: MakeCall, path: string, owner: Record<string, string>): Promise<void> {
  const params = owner
  await call(`POST ${path}/spend_limit`, { params })
  await call(`GET ${path}/spend_limit`, { params })
  await call(`DELETE ${path}/spend_limit`, { params })
  const alert = await call(`POST ${path}/spend_alerts`, { params })
  const ofAlert = { params: { ...owner, alert_id: String(alert.id) } }
  await call(`GET ${path}/spend_alerts`, { params })
  await call(`GET ${path}/spend_alerts/{alert_id}`, ofAlert)
  await call(`POST ${path}/spend_alerts/{alert_id}`, ofAlert)
  await call(`DELETE ${path}/spend_alerts/{alert_id}`, ofAlert)
}
