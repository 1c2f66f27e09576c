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
    expect((await home.run(['projects', 'use', 'none'])).stdout).toContain('names no project')
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
