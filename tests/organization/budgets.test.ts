import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { receiveWebhooks, type WebhookReceiver } from '../budget-alerts/receive-webhooks.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { BUDGETS, codeOf, createBudgetCalls, type BudgetCalls } from './budget-calls.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

const POLL = { timeout: 30_000, interval: 100 }

let hook: WebhookReceiver
let gateway: TestGateway
let other: TestGateway
let calls: BudgetCalls

beforeAll(async () => {
  hook = await receiveWebhooks()
  const settings = { PARKWAY_OUTBOUND_ALLOW: hook.host }
  gateway = await startTestGateway({ settings })
  calls = createBudgetCalls(gateway)
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
})
afterAll(async () => {
  await other.close()
  await gateway.close()
  hook.close()
})

const call: BudgetCalls['call'] = (...order) => calls.call(...order)
const setBudget: BudgetCalls['setBudget'] = (...order) => calls.setBudget(...order)
const createPayer = () => calls.createPayer()
const chat: BudgetCalls['chat'] = (...order) => calls.chat(...order)

test('the outlook takes in the budgets that limit the caller, on Billing and on Home alike', async () => {
  const { key } = await createPayer()
  const projectId = await createProject(gateway, 'Search', key)
  const { body: made } = await call('POST', '/v1/tenants/me/api-keys', key, {
    name: 'tagged',
    project_id: projectId,
    scopes: ['inference'],
    fixed_tags: { team: 'search' },
  })
  const costNanoUsd = Math.round((await chat(made.key)).body.usage.cost_usd * 1e9)
  const usd = (nanoUsd: number) => nanoUsd / 1e9
  const window = 'total'
  const project = { type: 'project', id: projectId }
  await setBudget(key, { subject: project, window, limit_usd: usd(3 * costNanoUsd) })
  const ofTag = { subject: { type: 'tag', id: 'team=search' }, window, limit_usd: usd(2 * costNanoUsd) }
  const { id } = await setBudget(key, ofTag)
  // These limit somebody else, only warn, or count some models only.
  await setBudget(key, { subject: { type: 'tag', id: 'team=other' }, limit_usd: 0 })
  await setBudget(key, { subject: project, limit_usd: 0, is_hard: false })
  await setBudget(key, { subject: project, limit_usd: 0, models: ['gpt-5.4-mini'] })

  const { body: budget } = await call('GET', '/v1/usage/budget', made.key)
  expect(budget.limiting_budgets.map(({ name }: { name: string }) => name)).toEqual([
    'total budget of the project',
    'total budget of the tag team=search',
  ])
  expect(budget.outlook).toMatchObject({
    limit: 'budget',
    budget: { id, ...ofTag, spent_usd: usd(costNanoUsd), resets_at: null },
    summary: 'At the rate of the last hour the total budget of the tag team=search lasts 60 min.',
  })
  expect(budget.remaining_usd).toBe(usd(costNanoUsd))
  const { body: today } = await call('GET', '/v1/usage/today', made.key)
  expect(today.outlook).toMatchObject({ summary: budget.outlook.summary, budget: { id } })
  const { body: ofAccount } = await call('GET', '/v1/usage/budget', key)
  expect([ofAccount.outlook.limit, ofAccount.limiting_budgets]).toEqual([null, []])
})

describe('a budget refuses what does not fit, in every process', () => {
  test('a budget of a project refuses its keys, and not others', async () => {
    const { key } = await createPayer()
    const projectId = await createProject(gateway, 'Search', key)
    const ofProject = await createProjectKey(gateway, projectId, { key })
    const budget = await setBudget(key, { subject: { type: 'project', id: projectId }, limit_usd: 0.000001 })
    for (const at of [gateway, other]) {
      const refused = await chat(ofProject, { at })
      expect(codeOf(refused)).toEqual([402, 'budget_exceeded'])
      expect(refused.headers.get('x-gateway-budget')).toBe(budget.id)
      expect(refused.body.error.message).toMatch(
        /^The monthly budget of 0\.000001 USD of the project is reached: .* USD needed, 0\.000001 USD left\. It starts again at /,
      )
      expect((await chat(key, { at })).status).toBe(200)
    }
    await call('POST', `${BUDGETS}/${budget.id}`, key, { limit_usd: 10 })
    for (const at of [gateway, other]) expect((await chat(ofProject, { at })).status).toBe(200)
  })

  test.each(['account', 'user', 'key'] as const)(
    'a budget of the %s refuses what it is about',
    async (type) => {
      const { key } = await createPayer()
      const { body: keys } = await call('GET', '/v1/tenants/me/api-keys', key)
      const person = await joinAccount(gateway, { email: `${type}@example.com`, role: 'owner', key })
      const { body: ofPerson } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
      const id = { account: null, user: person.id, key: keys.keys[0].id }[type]
      await setBudget(key, { subject: { type, id }, limit_usd: 0 })
      const [limited, free] = type === 'user' ? [ofPerson.key, key] : [key, ofPerson.key]
      expect(codeOf(await chat(limited))).toEqual([402, 'budget_exceeded'])
      // What the budget is not about goes on.
      expect((await chat(free)).status).toBe(type === 'account' ? 402 : 200)
    },
  )

  test('a budget with models refuses only these', async () => {
    const { key } = await createPayer()
    await setBudget(key, { subject: { type: 'account' }, models: ['gpt-5.4'], limit_usd: 0 })
    expect(codeOf(await chat(key))).toEqual([402, 'budget_exceeded'])
    const body = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }
    expect((await call('POST', '/v1/chat/completions', key, body)).status).toBe(200)
  })

  test('a budget with models cannot be dodged by another name of the model', async () => {
    const { key } = await createPayer()
    const budget = await setBudget(key, { subject: { type: 'account' }, models: ['gpt-4'], limit_usd: 0 })
    for (const model of ['gpt-4', String(Object(budget['models'])[0]), 'openai/gpt-4']) {
      const body = { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }
      expect([model, ...codeOf(await call('POST', '/v1/chat/completions', key, body))]).toEqual([
        model,
        402,
        'budget_exceeded',
      ])
    }
  })

  test('a budget of a key cannot be dodged by making keys with it', async () => {
    const { key: root } = await createPayer()
    const { body: made } = await call('POST', '/v1/tenants/me/api-keys', root, { name: 'one' })
    await setBudget(root, { subject: { type: 'key', id: made.id }, limit_usd: 0 })
    const { body: child } = await call('POST', '/v1/tenants/me/api-keys', made.key, { name: 'two' })
    expect(codeOf(await chat(child.key))).toEqual([402, 'budget_exceeded'])
    expect(codeOf(await call('POST', '/v1/tenants/me/api-keys', child.key, { name: 'three' }))).toEqual([
      403,
      'forbidden',
    ])
  })

  test('a budget of a tag refuses the requests that have it, and only these', async () => {
    const { key } = await createPayer()
    await setBudget(key, { subject: { type: 'tag', id: 'team=search' }, limit_usd: 0 })
    const tagged = (tags: string) => chat(key, { headers: { 'x-gateway-tags': tags } })
    expect(codeOf(await tagged('feature=chat,team=search'))).toEqual([402, 'budget_exceeded'])
    expect((await tagged('team=ads')).status).toBe(200)
    expect((await chat(key)).status).toBe(200)
  })

  test('a task that does not fit is not created', async () => {
    const { key } = await createPayer()
    await setBudget(key, { subject: { type: 'account' }, limit_usd: 0 })
    const body = { model: 'veo-3.1', prompt: 'Waves', duration: 4 }
    expect(codeOf(await call('POST', '/v1/videos/generations', key, body))).toEqual([402, 'budget_exceeded'])
    const { body: tasks } = await call('GET', '/v1/tasks', key)
    expect(tasks.total).toBe(0)
  })
})

test('a budget shows what is spent, what is left and when it starts again', async () => {
  const { key } = await createPayer()
  const budget = await setBudget(key, { subject: { type: 'account' }, window: 'day', limit_usd: 5 })
  const { body: answer } = await chat(key)
  const { body } = await call('GET', `${BUDGETS}/${budget.id}`, key)
  expect(body.spent_usd).toBe(answer.usage.cost_usd)
  expect(body.remaining_usd).toBeCloseTo(5 - answer.usage.cost_usd, 9)
  const tomorrow = Date.parse(body.window_started_at) + 86_400_000
  expect(Date.parse(body.resets_at)).toBe(tomorrow)
  const later = await setBudget(key, { subject: { type: 'account' }, window: 'total', limit_usd: 5 })
  expect([later['spent_usd'], later['resets_at']]).toEqual([answer.usage.cost_usd, null])
})

test('what cannot be a budget is refused with the name of the field', async () => {
  const { key } = await createPayer()
  const valid = { subject: { type: 'account' }, window: 'day', limit_usd: 1 }
  for (const [param, order] of [
    ['limit_usd', { ...valid, limit_usd: -1 }],
    ['limit_usd', { ...valid, limit_usd: 0.0000000001 }],
    ['window', { ...valid, window: 'year' }],
    ['subject.type', { ...valid, subject: { type: 'planet' } }],
    ['subject.id', { ...valid, subject: { type: 'user' } }],
    ['subject.id', { ...valid, subject: { type: 'tag', id: 'no value' } }],
    ['models', { ...valid, models: [] }],
    ['models', { ...valid, models: ['no-such-model'] }],
    ['thresholds_percent', { ...valid, thresholds_percent: [50, 50] }],
    ['email_recipients.0', { ...valid, email_recipients: ['not an address'] }],
    ['hard', { ...valid, hard: true }],
  ] as const) {
    const { status, body } = await call('POST', BUDGETS, key, order)
    expect([status, body.error?.param]).toEqual([400, param])
  }
  const made = await setBudget(key, valid)
  const past = { amount_usd: 1, until: '2020-01-01T00:00:00Z' }
  const refused = await call('POST', `${BUDGETS}/${made.id}/raise`, key, past)
  expect([refused.status, refused.body.error.param]).toEqual([400, 'until'])
})

test('a budget tells its webhook in the form of a chat program, once for each threshold', async () => {
  const { key } = await createPayer()
  const { body: answer } = await chat(key)
  const webhook = { url: hook.url, form: 'slack' }
  const budget = await setBudget(key, {
    subject: { type: 'account' },
    limit_usd: Math.ceil((answer.usage.cost_usd / 0.9) * 1e9) / 1e9,
    thresholds_percent: [50, 80, 95],
    webhook,
  })
  await chat(key)
  await expect
    .poll(async () => {
      const { body } = await call('GET', `${BUDGETS}/${budget.id}/alerts`, key)
      return body.data.map((alert: { threshold_percent: number }) => alert.threshold_percent).toSorted()
    }, POLL)
    .toEqual(expect.arrayContaining([50, 80]))
  await expect
    .poll(() => hook.received.map(({ text }) => text), POLL)
    .toContainEqual(expect.stringMatching(/^\{"text":"80 % of the monthly budget of the account is spent\. /))
})

test('the monthly limit of a project in the form of OpenAI is a hard budget', async () => {
  const { key } = await createPayer()
  const projectId = await createProject(gateway, 'Search', key)
  const ofProject = await createProjectKey(gateway, projectId, { key })
  const path = `/v1/organization/projects/${projectId}/spend_limit`
  const order = { threshold_amount: 0, currency: 'USD', interval: 'month' }
  expect(codeOf(await call('GET', path, key))).toEqual([404, 'not_found'])
  expect((await call('POST', path, key, order)).body.enforcement.status).toBe('enforcing')
  expect(codeOf(await chat(ofProject))).toEqual([402, 'budget_exceeded'])
  expect((await call('POST', path, key, { ...order, threshold_amount: 500 })).body.threshold_amount).toBe(500)
  expect((await chat(ofProject)).status).toBe(200)
  expect((await call('GET', BUDGETS, key)).body.data).toHaveLength(1)
  expect((await call('DELETE', path, key)).body.deleted).toBe(true)
  expect((await call('GET', BUDGETS, key)).body.data).toHaveLength(0)
})
