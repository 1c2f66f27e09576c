import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { BUDGETS, codeOf, createBudgetCalls, inADay, type BudgetCalls } from './budget-calls.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

const REQUESTS = '/v1/organization/budget_requests'

let gateway: TestGateway
let calls: BudgetCalls

beforeAll(async () => {
  gateway = await startTestGateway()
  calls = createBudgetCalls(gateway)
})
afterAll(() => gateway.close())

const call: BudgetCalls['call'] = (...order) => calls.call(...order)
const setBudget: BudgetCalls['setBudget'] = (...order) => calls.setBudget(...order)
const createPayer = () => calls.createPayer()

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

  test('an auditor sees every budget and changes none', async () => {
    const { key } = await createPayer()
    const projectId = await createProject(gateway, 'Search', key)
    const budget = await setBudget(key, { subject: { type: 'project', id: projectId }, limit_usd: 5 })
    const auditor = await joinAccount(gateway, { email: 'auditor@example.com', role: 'reader', key })
    expect((await auditor.request('GET', `${BUDGETS}/${budget.id}`)).status).toBe(404)
    const { status } = await call('POST', `/v1/organization/users/${auditor.id}`, key, { role: 'auditor' })
    expect(status).toBe(200)
    expect((await auditor.request('GET', `${BUDGETS}/${budget.id}`)).body.id).toBe(budget.id)
    expect(codeOf(await auditor.request('POST', `${BUDGETS}/${budget.id}`, { limit_usd: 9 }))).toEqual([
      403,
      'forbidden',
    ])
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
