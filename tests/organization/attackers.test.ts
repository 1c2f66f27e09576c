import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { codeOf, createBudgetCalls, type BudgetCalls } from './budget-calls.ts'
import { chatStatus, createProject, createProjectKey, joinAccount } from './join-account.ts'

let gateway: TestGateway
let calls: BudgetCalls

beforeAll(async () => {
  gateway = await startTestGateway()
  calls = createBudgetCalls(gateway)
})
afterAll(() => gateway.close())

const REFUSED = [402, 'budget_exceeded']

describe('a budget', () => {
  test('is not dodged by further projects, keys and tags, if it is the one of the account', async () => {
    const { key } = await calls.createPayer()
    await calls.setBudget(key, { subject: { type: 'account' }, limit_usd: 0 })
    const project = await createProject(gateway, 'Fresh', key)
    for (const dodge of [key, await createProjectKey(gateway, project, { key })])
      for (const headers of [{}, { 'x-gateway-tags': 'team=fresh' }])
        expect(codeOf(await calls.chat(dodge, { headers }))).toEqual(REFUSED)
  })

  test('is not dodged by another tag or none, if the project has the tag fixed', async () => {
    const { key } = await calls.createPayer()
    const { body: project } = await calls.call('POST', '/v1/organization/projects', key, {
      name: 'Search',
      fixed_tags: { team: 'search' },
    })
    await calls.setBudget(key, { subject: { type: 'tag', id: 'team=search' }, limit_usd: 0 })
    const own = await createProjectKey(gateway, project.id, { key })
    for (const headers of [{}, { 'x-gateway-tags': 'team=other' }])
      expect(codeOf(await calls.chat(own, { headers }))).toEqual(REFUSED)
  })

  test('is not dodged by a person with keys in several projects', async () => {
    const { key } = await calls.createPayer()
    const [first, second] = [
      await createProject(gateway, 'First', key),
      await createProject(gateway, 'Second', key),
    ]
    const projects = [first, second].map((id) => ({ id, role: 'member' }))
    const person = await joinAccount(gateway, { email: 'dodger@example.com', projects, key })
    await calls.setBudget(key, { subject: { type: 'user', id: person.id }, limit_usd: 0 })
    for (const id of [first, second]) {
      await person.request('POST', '/v1/sessions/project', { project_id: id })
      const { status, body } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'another' })
      expect(status).toBe(201)
      expect(codeOf(await calls.chat(body.key))).toEqual(REFUSED)
    }
  })

  test('is not dodged by deleting it and making it again: what was spent counts', async () => {
    const { key } = await calls.createPayer()
    const order = { subject: { type: 'account' }, limit_usd: 5 }
    expect((await calls.chat(key)).status).toBe(200)
    const { id, spent_usd: spent } = await calls.setBudget(key, order)
    expect(spent).toBeGreaterThan(0)
    await calls.call('DELETE', `/v1/organization/budgets/${id}`, key)
    expect((await calls.setBudget(key, order))['spent_usd']).toBe(spent)
  })
})

describe('a service account', () => {
  test('does not outlive its project: its keys are refused, and it gets no others', async () => {
    const { key } = await calls.createPayer()
    const at = `/v1/organization/projects/${await createProject(gateway, 'Short', key)}`
    const { body: robot } = await calls.call('POST', `${at}/service_accounts`, key, { name: 'Robot' })
    expect(await chatStatus(gateway, robot.api_key.value)).toBe(200)
    await calls.call('POST', `${at}/archive`, key)
    expect(await chatStatus(gateway, robot.api_key.value)).toBe(401)
    const further = await calls.call('POST', `${at}/service_accounts/${robot.id}/api_keys`, key, {})
    expect(further.status).toBeGreaterThanOrEqual(400)
    const { body: listed } = await calls.call('GET', `${at}/api_keys`, key)
    expect(listed.data ?? []).toEqual([])
  })
})

test('a key of a project reaches no route of the account, also by naming the account or another project', async () => {
  const { key } = await calls.createPayer()
  const [own, other] = [await createProject(gateway, 'Own', key), await createProject(gateway, 'Other', key)]
  const limited = await createProjectKey(gateway, own, { key })
  for (const path of ['audit_logs', 'admin_api_keys', 'data_retention', 'spend_limit'])
    expect([path, (await calls.call('GET', `/v1/organization/${path}`, limited)).status]).toEqual([path, 403])
  const elsewhere = await gateway.request('GET', `/v1/organization/projects/${other}`, { key: limited })
  expect(elsewhere.status).toBe(404)
  const named = { 'openai-project': other }
  const headers = await gateway.request('GET', '/v1/models', { key: limited, headers: named })
  expect([headers.status, headers.body.error.code]).toEqual([401, 'mismatched_project'])
})
