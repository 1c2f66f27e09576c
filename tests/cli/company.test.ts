import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProject, joinAccount } from '../organization/join-account.ts'
import { scimClient } from '../scim/scim-client.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

describe('a directory', () => {
  test('gets a token that is printed alone, is seen at work, and loses it', async () => {
    expect((await home.run(['scim'])).stdout).toMatch(/last sync +never/)
    const made = await home.run(['scim', 'create', 'Entra', '--days', '30'])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^scim-\S+\n$/)])
    expect(made.stderr).toContain(`${gateway.baseUrl}/scim/v2`)
    const directory = scimClient(gateway, made.stdout.trim())
    const person = { userName: 'directory@example.com', active: true }
    for (const status of [201, 409])
      expect((await directory.request('POST', '/Users', person)).status).toBe(status)
    const state = await home.run(['scim', 'show'])
    expect(state.stdout).toMatch(/people +1, 0 of them/)
    expect(state.stdout).toContain('POST /scim/v2/Users')
    const [line = ''] = (await home.run(['scim', 'tokens', '--json'])).stdout.split('\n')
    const { id } = JSON.parse(line)
    expect((await home.run(['scim', 'tokens'])).stdout).toContain(id)
    expect((await home.run(['scim', 'rm', id])).code).toBe(2)
    expect((await home.run(['scim', 'rm', '--yes', id])).stdout).toContain('Entra')
    expect((await directory.request('GET', '/Users')).status).toBe(401)
    expect((await home.run(['scim', 'rm', '--yes', id])).code).toBe(4)
  })
})

describe('a trusted issuer', () => {
  test('is added by options, shown, changed from stdin and removed', async () => {
    const project = await createProject(gateway)
    const { body: account } = await gateway.request(
      'POST',
      `/v1/organization/projects/${project}/service_accounts`,
      { body: { name: 'CI', create_service_account_only: true } },
    )
    const words = ['trust', 'add', project, '--issuer', 'https://token.actions.githubusercontent.com']
    const rule = ['--audience', 'https://a.example.com', '--account', account.id]
    expect((await home.run([...words, ...rule])).code).toBe(2)
    expect((await home.run([...words, ...rule, '--claim', 'repository'])).code).toBe(2)
    const refused = await home.run([...words, ...rule, '--claim', 'ref=refs/heads/main'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('must say who asks')])
    const claims = ['--claim', 'repository=acme/site', '--claim', 'ref=refs/heads/main']
    const made = await home.run([...words, ...rule, ...claims, '--minutes', '5', '--env', 'dev'])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^issuer_[0-9a-f]{32}\n$/)])
    const id = made.stdout.trim()
    const shown = (await home.run(['trust', 'show', project, id])).stdout
    expect(shown).toContain('repository=acme/site')
    expect(shown).toContain(`becomes ${account.id} in dev for 300 s`)
    const change = { stdin: '{"audience": "https://b.example.com"}' }
    expect((await home.run(['trust', 'set', project, id], change)).code).toBe(0)
    expect((await home.run(['trust', 'set', project, id], { stdin: '[1]' })).code).toBe(2)
    const [line = ''] = (await home.run(['trust', 'list', project, '--json'])).stdout.split('\n')
    expect(JSON.parse(line)).toMatchObject({ id, audience: 'https://b.example.com' })
    expect((await home.run(['trust', 'rm', '--yes', project, id])).code).toBe(0)
    expect((await home.run(['trust', 'show', project, id])).code).toBe(4)
  })
})

describe('managed settings', () => {
  test('are set from a file and from stdin, shown, previewed and deleted', async () => {
    const person = await joinAccount(gateway, { email: 'settings@example.com' })
    const { body: group } = await gateway.request('POST', '/v1/organization/groups', {
      body: { name: 'Builders' },
    })
    await gateway.request('POST', `/v1/organization/groups/${group.id}/users`, {
      body: { user_id: person.id },
    })
    expect((await home.run(['managed-settings', 'preview', person.id])).stderr).toContain('None')
    const file = join(home.directory, 'settings.json')
    await writeFile(file, '{"model": "base", "permissions": {"deny": ["Bash"]}}')
    const ofAll = await home.run(['managed-settings', 'set', '--file', file])
    expect([ofAll.code, ofAll.stdout]).toEqual([0, expect.stringMatching(/^settings_\S+\n$/)])
    const set = ['managed-settings', 'set', '--group', group.id, '--priority', '1']
    const ofGroup = await home.run(set, { stdin: '{"model": "strong"}' })
    expect(ofGroup.code).toBe(0)
    const shown = await home.run(['managed-settings', 'show', ofAll.stdout.trim()])
    expect(JSON.parse(shown.stdout)).toEqual({ model: 'base', permissions: { deny: ['Bash'] } })
    const preview = await home.run(['managed-settings', 'preview', person.id])
    expect(JSON.parse(preview.stdout)).toEqual({ model: 'strong', permissions: { deny: ['Bash'] } })
    expect((await home.run(['managed-settings'])).stdout).toMatch(/everybody[^]*group_/)
    expect((await home.run(['managed-settings', 'rm', '--yes', ofGroup.stdout.trim()])).code).toBe(0)
    expect((await home.run(['managed-settings', 'show', ofGroup.stdout.trim()])).code).toBe(4)
  })

  test.each([
    ['no JSON', '{"model": ', []],
    ['a list', '[]', []],
    ['a priority without a group', '{}', ['--priority', '1']],
  ])('end with 2 for %s', async (_name, stdin, words) => {
    expect((await home.run(['managed-settings', 'set', ...words], { stdin })).code).toBe(2)
  })
})
