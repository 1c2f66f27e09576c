import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

test('who works in a project reads what the project spent, and neither the balance nor the spending of the account', async () => {
  const projectId = await createProject(gateway)
  const key = await createProjectKey(gateway, projectId)
  const spend = async (by: string): Promise<number> =>
    (await gateway.request('POST', '/v1/chat/completions', { key: by, body: CHAT })).body.usage.cost_usd
  await spend(gateway.key)
  const ofProject = await spend(key)
  const { body: ofAccount } = await gateway.request('GET', '/v1/usage/budget')
  expect(ofAccount).toMatchObject({ balance_usd: expect.any(Number), held_usd: expect.any(Number) })
  expect(ofAccount.spent_usd).toBeGreaterThan(ofProject)
  for (const role of ['viewer', 'member', 'owner']) {
    const projects = [{ id: projectId, role }]
    const person = await joinAccount(gateway, { email: `${role}@example.com`, projects })
    const { body: budget } = await person.request('GET', '/v1/usage/budget')
    expect([role, budget]).toEqual([
      role,
      expect.objectContaining({
        spent_usd: ofProject,
        burn_rate_usd_per_hour: ofProject,
        balance_usd: null,
        held_usd: null,
        limit_usd: null,
        forecast: null,
        budgets: [],
      }),
    ])
    expect((await person.request('GET', '/v1/tenants/me')).body.balance_usd).toBeNull()
  }
})
