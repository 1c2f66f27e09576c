import { describe, expect, test } from 'vitest'
import { createProject, createProjectKey, joinAccount } from '../organization/join-account.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

describe('projects', () => {
  test('are made, renamed, shown and archived', async () => {
    const made = await home.run(['projects', 'create', 'Search'])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^proj_[0-9a-f]{32}\n$/)])
    const id = made.stdout.trim()
    expect((await home.run(['projects', 'rename', id, 'Search and ads'])).code).toBe(0)
    const table = await home.run(['projects'])
    expect(table.stdout).toContain('Search and ads')
    const shown = await home.run(['projects', 'show', id])
    expect(shown.stdout).toMatch(/name +Search and ads/)
    expect((await home.run(['projects', 'archive', '--yes', id])).code).toBe(0)
    expect((await home.run(['projects', 'list'])).stdout).not.toContain('Search and ads')
    expect((await home.run(['projects', 'list', '--all'])).stdout).toContain('Search and ads')
  })

  test('end with 4 if they are unknown', async () => {
    const { code, stderr } = await home.run(['projects', 'show', 'proj_0123456789abcdef0123456789abcdef'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('project')])
  })

  test('are named in requests with --project, and another than that of the key is refused', async () => {
    const projectId = await createProject(gateway)
    const PARKWAY_API_KEY = await createProjectKey(gateway, projectId)
    const run = (id: string) =>
      home.run(['whoami', '--project', id], {
        environment: { PARKWAY_API_KEY, PARKWAY_BASE_URL: gateway.baseUrl },
      })
    expect((await run(projectId)).code).toBe(0)
    const refused = await run(await createProject(gateway, 'Another'))
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('OpenAI-Project')])
  })

  test('stay in a profile after "use", if its key works in them', async () => {
    const { body: account } = await gateway.request('GET', '/v1/tenants/me')
    expect((await home.run(['projects', 'use', await createProject(gateway)])).code).toBe(3)
    expect((await home.run(['projects', 'use', account.id])).stdout).toContain(account.id)
    expect((await home.run(['whoami'])).code).toBe(0)
    expect((await home.run(['projects', 'use', 'none'])).stdout).toContain('has no project')
  })
})

describe('people', () => {
  test('are invited with a link that is printed alone, listed, changed and removed', async () => {
    const projectId = await createProject(gateway)
    const words = ['invite', 'create', 'ada@example.com', '--role', 'reader', '--to', `${projectId}=owner`]
    const invited = await home.run(words)
    expect([invited.code, invited.stdout]).toEqual([0, expect.stringMatching(/^http\S+#code=\S+\n$/)])
    expect((await home.run(['invite', 'list'])).stdout).toContain('ada@example.com')
    const [invite] = (await gateway.request('GET', '/v1/organization/invites')).body.data
    expect(invite.projects).toEqual([{ id: projectId, role: 'owner' }])
    expect((await home.run(['invite', 'revoke', invite.id])).code).toBe(0)

    const { id } = await joinAccount(gateway, { email: 'grace@example.com', name: 'Grace' })
    expect((await home.run(['members'])).stdout).toContain('grace@example.com')
    expect((await home.run(['members', 'role', id, 'auditor'])).stdout).toContain('is auditor now')
    expect((await home.run(['members', 'show', id])).stdout).toMatch(/role +auditor/)
    expect((await home.run(['members', 'role', id, 'king'])).code).toBe(2)
    expect((await home.run(['invite', 'create', 'x@example.com', '--to', 'a=king'])).code).toBe(2)
    expect((await home.run(['members', 'remove', '--yes', id])).stdout).toContain('grace@example.com')
    expect((await home.run(['members', 'show', id])).code).toBe(4)
  })

  test('are in groups', async () => {
    const { id } = await joinAccount(gateway, { email: 'alan@example.com', name: 'Alan' })
    const group = (await home.run(['groups', 'create', 'Engineers'])).stdout.trim()
    expect((await home.run(['groups', 'add', group, id])).code).toBe(0)
    expect((await home.run(['groups', 'members', group])).stdout).toContain('alan@example.com')
    expect((await home.run(['groups', 'remove', group, id])).code).toBe(0)
    expect((await home.run(['groups'])).stdout).toContain('Engineers')
    expect((await home.run(['groups', 'rm', '--yes', group])).code).toBe(0)
    expect((await home.run(['groups'])).stderr).toContain('No group yet')
  })
})

describe('budgets', () => {
  test('are made, changed, raised, asked for and deleted', async () => {
    const projectId = await createProject(gateway)
    const made = await home.run(['budgets', 'create', `project=${projectId}`, '10', '--window', 'week'])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^budget_\S+\n$/)])
    const id = made.stdout.trim()
    expect((await home.run(['budgets', 'set', id, '20'])).stdout).toContain('$20.00')
    expect((await home.run(['budgets', 'raise', id, '5', '--until', '3d'])).stdout).toContain('$25.00')
    const [line = ''] = (await home.run(['budgets', '--json'])).stdout.split('\n')
    expect(JSON.parse(line)).toMatchObject({ id, limit_usd: 20, raise: { amount_usd: 5 } })
    const asked = await home.run(['budgets', 'request', id, '7', '--reason', 'The launch'])
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining('waits')])
    expect((await home.run(['budgets', 'create', 'planet=1', '5'])).code).toBe(2)
    expect((await home.run(['budgets', 'create', 'account', '5', '--window', 'year'])).code).toBe(2)
    expect((await home.run(['budgets', 'rm', '--yes', id])).code).toBe(0)
    expect((await home.run(['budgets'])).stdout).not.toContain(projectId)
  })
})

describe('roles', () => {
  test('are made, changed, given, taken and deleted', async () => {
    const { id: user } = await joinAccount(gateway, { email: 'roles@example.com' })
    const { body: group } = await gateway.request('POST', '/v1/organization/groups', {
      body: { name: 'Ops' },
    })
    const made = await home.run(['roles', 'create', 'Treasurer', 'budgets.manage', 'usage.read'])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^role_[0-9a-f]{32}\n$/)])
    const id = made.stdout.trim()
    expect((await home.run(['roles'])).stdout).toContain('Treasurer')
    for (const holder of [user, String(group.id)]) {
      expect((await home.run(['roles', 'give', id, holder])).stdout).toContain('Treasurer')
      expect((await home.run(['roles', 'list', '--of', holder])).stdout).toContain('Treasurer')
      expect((await home.run(['roles', 'take', id, holder])).code).toBe(0)
      expect((await home.run(['roles', 'list', '--of', holder])).stdout).not.toContain('Treasurer')
    }
    expect((await home.run(['roles', 'change', id, 'log.read'])).stdout).toContain('allows log.read')
    expect((await home.run(['roles', 'rm', '--yes', id])).code).toBe(0)
    expect((await home.run(['roles', 'give', id, 'somebody'])).code).toBe(2)
    expect((await home.run(['roles', 'create', 'King', 'everything'])).code).toBe(1)
  })
})

describe('requests for more', () => {
  test('tell who asks and for what, and are approved or refused', async () => {
    const { id } = await joinAccount(gateway, { email: 'asks@example.com' })
    const created = await home.run(['budgets', 'create', `user=${id}`, '5'])
    const budget = created.stdout.trim()
    for (const reason of ['first', 'second'])
      expect((await home.run(['budgets', 'request', budget, '3', '--reason', reason])).code).toBe(0)
    const { body } = await gateway.request('GET', '/v1/organization/budget_requests')
    const [second, first] = body.data
    expect(first.budget).toEqual({ subject: { type: 'user', id }, window: 'month', limit_usd: 5 })
    const listed = await home.run(['budgets', 'requests'])
    expect(listed.stdout).toContain('second')
    expect((await home.run(['budgets', 'approve', first.id, '--amount', '1'])).stdout).toContain(budget)
    expect((await home.run(['budgets', 'refuse', second.id])).stdout).toContain('Refused')
    expect((await home.run(['budgets', 'requests'])).stdout).not.toContain('second')
    expect((await home.run(['budgets', 'requests', '--status', 'refused'])).stdout).toContain('second')
    expect((await home.run(['budgets', 'requests', '--status', 'x'])).code).toBe(2)
    const { body: raised } = await gateway.request('GET', `/v1/organization/budgets/${budget}`)
    expect(raised.remaining_usd).toBe(6)
  })
})

describe('costs and usage', () => {
  test('are told by project, key and tag, and agree with the balance', async () => {
    for (const tag of ['team=search', 'team=+chat'])
      await gateway.request('POST', '/v1/chat/completions', {
        headers: { 'x-gateway-tags': tag },
        body: { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 },
      })
    const csv = await home.run(['costs', '--by', 'project,tag:team', '--csv'])
    expect(csv.stdout).toMatch(/^project,tag:team,cost_usd\r\n/)
    expect(csv.stdout).toMatch(/,search,0\.0000\d+\r\n/)
    expect(csv.stdout).toContain(`,'+chat,`)
    const only = await home.run(['costs', '--by', 'model,user,key', '--tag', 'team=search'])
    expect(only.stdout).toMatch(/gpt-5\.4-mini +none +\S+ +\$0\.0000/)
    expect((await home.run(['costs', '--by', 'king'])).code).toBe(2)
    const by = await home.run(['usage', '--by', 'tag:team', '--window', '24h'])
    expect(by.stdout).toContain('search')
    const filtered = await home.run(['usage', '--tag', 'team=search', '--window', '24h', '--json'])
    expect(JSON.parse(filtered.stdout).requests).toBe(1)
  })
})
