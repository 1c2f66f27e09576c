import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '../payments/accounts.ts'
import { receiveWebhooks, type WebhookReceiver } from '../budget-alerts/receive-webhooks.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

const BUDGETS = '/v1/organization/budgets'
const REQUESTS = '/v1/organization/budget_requests'
const POLL = { timeout: 30_000, interval: 100 }

let hook: WebhookReceiver
let gateway: TestGateway
let other: TestGateway

beforeAll(async () => {
  hook = await receiveWebhooks()
  const settings = { PARKWAY_OUTBOUND_ALLOW: hook.host }
  gateway = await startTestGateway({ settings })
  other = await startTestGateway({ settings, connectionString: gateway.connectionString })
})
afterAll(async () => {
  await other.close()
  await gateway.close()
  hook.close()
})

/** An account of its own, so that the budgets of one test do not limit another. */
const createPayer = () => createAccount(gateway, { creditUsd: 100 })

const call = (method: string, path: string, key: string, body?: unknown) =>
  gateway.request(method, path, { key, ...(body === undefined ? {} : { body }) })

async function setBudget(key: string, order: object): Promise<Record<string, unknown> & { id: string }> {
  const { status, body } = await call('POST', BUDGETS, key, { window: 'month', ...order })
  expect([status, body]).toEqual([200, body])
  return body
}

const chat = (
  key: string,
  { at = gateway, headers = {} }: { at?: TestGateway; headers?: Record<string, string> } = {},
) =>
  at.request('POST', '/v1/chat/completions', {
    key,
    headers,
    body: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'Write a long story.' }], max_tokens: 50 },
  })

const codeOf = ({ status, body }: TestAnswer): unknown[] => [status, body.error?.code ?? null]

const inADay = () => new Date(Date.now() + 86_400_000).toISOString()

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

describe('who may do what with budgets', () => {
  test('a key of a project sees and makes budgets of the project only, and changes none that was given', async () => {
    const { key } = await createPayer()
    const projectId = await createProject(gateway, 'Search', key)
    const elsewhere = await createProject(gateway, 'Ads', key)
    const ofProject = await createProjectKey(gateway, projectId, { key })
    const given = await setBudget(key, { subject: { type: 'project', id: projectId }, limit_usd: 5 })
    const foreign = await setBudget(key, { subject: { type: 'project', id: elsewhere }, limit_usd: 5 })
    const { body: list } = await call('GET', BUDGETS, ofProject)
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([given.id])
    expect(codeOf(await call('GET', `${BUDGETS}/${foreign.id}`, ofProject))).toEqual([404, 'not_found'])
    expect(codeOf(await call('DELETE', `${BUDGETS}/${foreign.id}`, ofProject))).toEqual([404, 'not_found'])
    expect(codeOf(await call('POST', `${BUDGETS}/${given.id}`, ofProject, { limit_usd: 9 }))).toEqual([
      403,
      'forbidden',
    ])
    expect(codeOf(await call('DELETE', `${BUDGETS}/${given.id}`, ofProject))).toEqual([403, 'forbidden'])
    const raise = { amount_usd: 100, until: inADay() }
    expect(codeOf(await call('POST', `${BUDGETS}/${given.id}/raise`, ofProject, raise))).toEqual([
      403,
      'forbidden',
    ])
    const own = { subject: { type: 'project', id: projectId }, window: 'day', limit_usd: 1 }
    const made = await call('POST', BUDGETS, ofProject, own)
    expect([made.status, made.body.level]).toEqual([200, 'project'])
    for (const subject of [{ type: 'account' }, { type: 'tag', id: 'team=a' }])
      expect(codeOf(await call('POST', BUDGETS, ofProject, { ...own, subject }))).toEqual([403, 'forbidden'])
    const outside = { ...own, subject: { type: 'project', id: elsewhere } }
    expect(codeOf(await call('POST', BUDGETS, ofProject, outside))).toEqual([404, 'not_found'])
  })

  test('a person sets a budget for themselves, below what they were given, and asks for more', async () => {
    const { key } = await createPayer()
    const projectId = await createProject(gateway, 'Search', key)
    const person = await joinAccount(gateway, {
      email: 'ada@example.com',
      projects: [{ id: projectId, role: 'member' }],
      key,
    })
    const given = await setBudget(key, { subject: { type: 'user', id: person.id }, limit_usd: 5 })
    const mine = { subject: { type: 'user', id: person.id }, window: 'day', limit_usd: 1 }
    const made = await person.request('POST', BUDGETS, mine)
    expect([made.status, made.body.level]).toEqual([200, 'personal'])
    expect((await person.request('POST', `${BUDGETS}/${made.body.id}`, { limit_usd: 2 })).status).toBe(200)
    const raised = await person.request('POST', `${BUDGETS}/${given.id}`, { limit_usd: 9 })
    expect(codeOf(raised)).toEqual([403, 'forbidden'])
    const project = { subject: { type: 'project', id: projectId }, window: 'day', limit_usd: 1 }
    expect((await person.request('POST', BUDGETS, project)).status).toBe(403)

    const order = { budget_id: given.id, amount_usd: 3, until: inADay(), reason: 'The launch.' }
    const asked = await person.request('POST', REQUESTS, order)
    expect([asked.status, asked.body.status]).toEqual([200, 'pending'])
    const approve = `${REQUESTS}/${asked.body.id}/approve`
    expect(codeOf(await person.request('POST', approve, {}))).toEqual([403, 'forbidden'])
    const approved = await call('POST', approve, key, { amount_usd: 2 })
    expect([approved.status, approved.body.status]).toEqual([200, 'approved'])
    expect(codeOf(await call('POST', approve, key, {}))).toEqual([409, 'conflict'])
    const { body: now } = await call('GET', `${BUDGETS}/${given.id}`, key)
    expect([now.raise.amount_usd, now.remaining_usd]).toEqual([2, 7])
    const again = await person.request('POST', REQUESTS, order)
    expect((await call('POST', `${REQUESTS}/${again.body.id}/refuse`, key)).body.status).toBe('refused')
    const { body: listed } = await person.request('GET', REQUESTS)
    expect(listed.data.map(({ status }: { status: string }) => status)).toEqual(['refused', 'approved'])
    await call('DELETE', `${BUDGETS}/${given.id}/raise`, key)
    expect((await call('GET', `${BUDGETS}/${given.id}`, key)).body.raise).toBeNull()
  })

  test('budgets and requests of another account are 404', async () => {
    const [one, two] = [await createPayer(), await createPayer()]
    const budget = await setBudget(one.key, { subject: { type: 'account' }, limit_usd: 5 })
    const order = { budget_id: budget.id, amount_usd: 3, until: inADay(), reason: 'More.' }
    const { body: asked } = await call('POST', REQUESTS, one.key, order)
    for (const [method, path, body] of [
      ['GET', `${BUDGETS}/${budget.id}`],
      ['POST', `${BUDGETS}/${budget.id}`, { limit_usd: 9 }],
      ['DELETE', `${BUDGETS}/${budget.id}`],
      ['POST', `${BUDGETS}/${budget.id}/raise`, { amount_usd: 1, until: inADay() }],
      ['DELETE', `${BUDGETS}/${budget.id}/raise`],
      ['GET', `${BUDGETS}/${budget.id}/alerts`],
      ['POST', REQUESTS, order],
      ['POST', `${REQUESTS}/${asked.id}/approve`, {}],
      ['POST', `${REQUESTS}/${asked.id}/refuse`],
    ] as const)
      expect([path, ...codeOf(await call(method, path, two.key, body))]).toEqual([path, 404, 'not_found'])
    const project = await createProject(gateway, 'Search', one.key)
    for (const subject of [
      { type: 'project', id: project },
      { type: 'account', id: `org-${one.accountId.replaceAll('-', '')}` },
      { type: 'key', id: one.accountId },
    ])
      expect(codeOf(await call('POST', BUDGETS, two.key, { subject, window: 'day', limit_usd: 1 }))).toEqual([
        404,
        'not_found',
      ])
  })
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
