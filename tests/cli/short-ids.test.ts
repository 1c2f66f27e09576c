import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { shortenIds } from '../../cli/short-ids/shorten-ids.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const writeKeys = async (): Promise<string> => {
  const { publicKey } = await generateKeyPair('RS256')
  const path = join(home.directory, 'keys.json')
  await writeFile(
    path,
    JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }] }),
  )
  return path
}

const MISSING = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'
const makeKey = async (): Promise<string> =>
  (await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'short' } })).body.id
const isActive = async (id: string): Promise<boolean> =>
  (await gateway.request('GET', `/v1/tenants/me/api-keys/${id}`)).body.is_active

describe('the beginning of an id', () => {
  test('is refused if several have it, with the candidates, and nothing is done', async () => {
    const [one, other] = [await makeKey(), await makeKey()]
    const { code, stdout, stderr } = await home.run(['keys', 'revoke', '--yes', one.slice(0, 6)])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(new RegExp(`Several keys begin with "${one.slice(0, 6)}":`))
    for (const id of [one, other]) expect(stderr).toContain(`${id}  short`)
    expect([await isActive(one), await isActive(other)]).toEqual([true, true])
  })

  test('means the only one that has it, in arguments and options', async () => {
    const id = await makeKey()
    const beginning = id.slice(0, -2)
    const usage = JSON.parse((await home.run(['usage', '--json', '--key', beginning])).stdout)
    expect(usage.data).toEqual([])
    expect((await home.run(['keys', 'revoke', '--yes', beginning])).code).toBe(0)
    expect(await isActive(id)).toBe(false)
  })

  test('works for tasks, requests and things of the organization', async () => {
    const task = (await home.run(['image', '--no-wait', 'A cup'])).stdout.trim()
    const shown = JSON.parse((await home.run(['tasks', 'show', '--json', task.slice(0, 30)])).stdout)
    expect(shown.id).toBe(task)
    const { headers } = await gateway.request('POST', '/v1/embeddings', {
      body: { model: 'text-embedding-3-small', input: 'tea' },
    })
    const request = headers.get('x-request-id') ?? ''
    const logged = JSON.parse((await home.run(['logs', 'show', '--json', request.slice(0, 30)])).stdout)
    expect(logged.request_id).toBe(request)
    const project = await gateway.request('POST', '/v1/organization/projects', { body: { name: 'Search' } })
    for (const word of [project.body.id.slice(0, -4), project.body.id.slice('proj_'.length, -4)])
      expect(JSON.parse((await home.run(['projects', 'show', '--json', word])).stdout).id).toBe(
        project.body.id,
      )
  })

  test('works for issuers and service accounts of a project, and for the project before them', async () => {
    const project = (await gateway.request('POST', '/v1/organization/projects', { body: { name: 'CI' } }))
      .body
    const at = `/v1/organization/projects/${project.id}`
    const account = (await gateway.request('POST', `${at}/service_accounts`, { body: { name: 'deploy' } }))
      .body
    const words = ['--issuer', 'https://ci.example.com', '--audience', 'a', '--claim', 'repository=acme/site']
    const jwks = ['--jwks', await writeKeys()]
    const added = await home.run([
      'trust',
      'add',
      project.id.slice(0, -2),
      ...words,
      ...jwks,
      '--account',
      account.id.slice('svc_acct_'.length, -2),
      '--json',
    ])
    expect(added.stderr).toBe('')
    expect(JSON.parse(added.stdout).rules[0].service_account_id).toBe(account.id)
    const { id } = JSON.parse(added.stdout)
    const shown = await home.run(['trust', 'show', project.id.slice(0, -2), id.slice(0, -2), '--json'])
    expect(JSON.parse(shown.stdout).id).toBe(id)
    const other = await home.run(['trust', 'show', project.id, 'issuer_ffff0000'])
    expect([other.code, other.stderr]).toEqual([4, expect.stringContaining('issuers')])
    const budget = await home.run(['budgets', 'create', `project=${project.id.slice(0, -2)}`, '5', '--json'])
    expect(JSON.parse(budget.stdout).subject.id).toBe(project.id)
    const subject = `service_account=${account.id.slice(0, -2)}`
    const ofAccount = await home.run(['budgets', 'create', subject, '5', '--json'])
    expect(JSON.parse(ofAccount.stdout).subject.id).toBe(account.id)
  })

  test('is never looked for in a name, though it may look like one', async () => {
    const make = async (group: string, name: string) =>
      JSON.parse((await home.run([group, 'create', '--json', name])).stdout)
    expect((await make('groups', 'role_beef')).name).toBe('role_beef')
    const { id } = await make('projects', 'user-cafe')
    expect((await home.run(['projects', 'rename', id, 'proj_cafe'])).code).toBe(0)
    expect(JSON.parse((await home.run(['projects', 'show', '--json', id])).stdout).name).toBe('proj_cafe')
  })

  test('is not found if none has it, and so is a whole id', async () => {
    for (const word of ['ffff0000', MISSING])
      expect(await home.run(['tasks', 'show', word])).toMatchObject({ code: 4, stdout: '' })
  })
})

test.each([
  [
    ['01a1e900-0fc9-7eff-b14c-dd4471e0969d', '02a1e900-0fc9-7eff-b14c-dd4471e0969d'],
    ['01a1e900', '02a1e900'],
  ],
  [
    ['01a1e900-0fc9-7eff-b14c-dd4471e0969d', '01a1e900-0fc8-7eff-b14c-dd4471e0969d'],
    ['01a1e900-0fc9', '01a1e900-0fc8'],
  ],
  [['proj_01a1e9000fc97effb14cdd4471e0969d'], ['proj_01a1e900']],
  [[], []],
])('%j are shown as %j', (ids, shown) => {
  expect(shortenIds(ids)).toEqual(shown)
})
