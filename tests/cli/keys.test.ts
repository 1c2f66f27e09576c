import { describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { createOther } from '../deployments/deploy.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { createHome, signIn } from './run-parkway.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const MISSING = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'

describe('a key', () => {
  test('is made with what the options say, printed alone on stdout once, listed and revoked', async () => {
    const words =
      'keys create --name Report --env test --scopes inference --limit $2.50 --rate 7 --expires 30d'
    const made = await home.run([...words.split(' '), '--models', 'gpt-4o-mini, gpt-4o'])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^pk-test-\w+\n$/)])
    expect(made.stderr).toContain('shown this once')
    const key = made.stdout.trim()
    const { body } = await gateway.request('GET', '/v1/tenants/me/api-keys')
    const [record] = body.data
    expect(record).toMatchObject({
      name: 'Report',
      scopes: ['inference'],
      limit_usd: 2.5,
      allowed_models: ['gpt-4o-mini', 'gpt-4o'],
      requests_per_minute: 7,
    })
    const days = (Date.parse(record.expires_at) - Date.parse(record.created_at)) / 86_400_000
    expect(days).toBeCloseTo(30, 1)

    const table = await home.run(['keys'])
    expect(table.stdout).toContain('Report')
    expect(table.stdout).not.toContain(key)
    const lines = await home.run(['keys', 'list', '--json'])
    const active = body.data.filter((one: { is_active: boolean }) => one.is_active)
    expect(withoutUse(parseLines(lines.stdout))).toEqual(withoutUse(active))

    const revoked = await home.run(['keys', 'revoke', '--yes', record.id])
    expect([revoked.code, revoked.stdout]).toEqual([0, expect.stringContaining('Report')])
    expect((await gateway.request('GET', '/v1/tenants/me', { key })).status).toBe(401)
    expect((await home.run(['keys', 'list'])).stdout).not.toContain('Report')
    expect((await home.run(['keys', 'list', '--all'])).stdout).toContain('Report')
  })

  test('is printed as the JSON of the API with --json', async () => {
    const made = JSON.parse((await home.run(['keys', 'create', '--json'])).stdout)
    const { body } = await gateway.request('GET', `/v1/tenants/me/api-keys/${made.id}`)
    const { key, ...record } = made
    expect([record, key.startsWith(body.key_prefix.replace('…', ''))]).toEqual([body, true])
    const revoked = await home.run(['keys', 'revoke', '-y', '--json', made.id])
    expect(JSON.parse(revoked.stdout)).toEqual({ revoked: true, id: made.id })
  })

  test('is listed over all pages', async () => {
    for (let index = 0; index < 3; index += 1)
      await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: `n${index}` } })
    const { body } = await gateway.request('GET', '/v1/tenants/me/api-keys?limit=2')
    const lines = await home.run(['keys', 'list', '--all', '--limit', '2', '--json'])
    expect(withoutUse(parseLines(lines.stdout))).toEqual(withoutUse(body.data))
  })
})

test.each([
  [['keys', 'revoke', '--yes', MISSING], 4, 'No such API key'],
  [['keys', 'revoke'], 2, 'missing required argument'],
  [['keys', 'create', '--models', 'gpt-5.4-mnii'], 1, "Did you mean 'gpt-5.4-mini'?"],
  [['keys', 'create', '--limit', 'much'], 2, '--limit'],
  [['keys', 'create', '--rate', '0'], 2, '--rate'],
  [['keys', 'create', '--daily', 'much'], 2, '--daily'],
  [['keys', 'rotate', '--overlap', 'long', MISSING], 2, '--overlap'],
  [['keys', 'rotate', MISSING], 4, 'No such API key'],
  [['keys', 'create', '--expires', 'soon'], 2, '--expires'],
  [['keys', 'create', '--scopes', 'root'], 1, 'scopes'],
  [['keys', 'list', '--limit', '-1'], 2, '--limit'],
  [['keys', 'forget'], 2, 'There is no command'],
])('%j ends with %i and says why', async (words, exitCode, reason) => {
  const { code, stdout, stderr } = await home.run(words)
  expect([code, stdout]).toEqual([exitCode, ''])
  expect(stderr).toContain(reason)
})

describe('keys rotate', () => {
  test('prints the new secret alone, and the old one works until the overlap ends', async () => {
    const { body: made } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: {} })
    const { code, stdout, stderr } = await home.run(['keys', 'rotate', '--overlap', '2h', made.id])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^pk-dev-\w+\n$/)])
    expect(stderr).toContain(made.key_prefix)
    for (const key of [made.key, stdout.trim()])
      expect((await gateway.request('GET', '/v1/tenants/me', { key })).body.key.id).toBe(made.id)
    // It would end what still works.
    const refused = await home.run(['keys', 'rotate', made.id])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--yes')])
    const again = JSON.parse(
      (await home.run(['keys', 'rotate', '-y', '--json', '--overlap', '0', made.id])).stdout,
    )
    expect((await gateway.request('GET', '/v1/tenants/me', { key: again.key })).status).toBe(200)
    expect((await gateway.request('GET', '/v1/tenants/me', { key: made.key })).status).toBe(401)
  })

  test('keeps the profile signed in that has the key', async () => {
    const { body: made } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: {} })
    await signIn(home, { baseUrl: gateway.baseUrl, key: made.key }, ['--profile', 'own'])
    const words = ['keys', 'rotate', '--yes', '--overlap', '0', '--profile', 'own', made.id]
    expect(await home.run(words)).toMatchObject({ code: 0, stderr: expect.stringContaining('profile "own"') })
    expect((await home.run(['whoami', '--profile', 'own'])).code).toBe(0)
    await home.run(['login', '--url', gateway.baseUrl], { stdin: gateway.key })
  })
})

test('keys create --daily --monthly limits what the key may spend in a day and a month', async () => {
  const words = ['keys', 'create', '--json', '--daily', '0', '--monthly', '50']
  const made = JSON.parse((await home.run(words)).stdout)
  const { body } = await gateway.request(
    'GET',
    `/v1/organization/budgets?subject_type=key&subject_id=${made.id}`,
  )
  const budgets = body.data.map((budget: { window: string; limit_usd: number }) => [
    budget.window,
    budget.limit_usd,
  ])
  expect(budgets.toSorted()).toEqual([
    ['day', 0],
    ['month', 50],
  ])
  const refused = await gateway.request('POST', '/v1/embeddings', {
    key: made.key,
    body: { model: 'text-embedding-3-small', input: 'tea' },
  })
  expect(refused.status).toBe(402)
})

test('revoking needs --yes without a terminal, and changes nothing before', async () => {
  const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: {} })
  const refused = await home.run(['keys', 'revoke', body.id])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--yes')])
  expect((await gateway.request('GET', `/v1/tenants/me/api-keys/${body.id}`)).body.is_active).toBe(true)
})

test('a key without the scope manage makes no key, and nobody without a key does', async () => {
  const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: await createOther(gateway) }
  expect(await home.run(['keys', 'create'], { environment })).toMatchObject({ code: 1, stdout: '' })
  const stranger = await createHome()
  try {
    const refused = await stranger.run(['keys', 'create'])
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('parkway admin-key create')])
  } finally {
    await stranger.remove()
  }
})

/** The last use is written some seconds later, possibly between two readings. */
function withoutUse(keys: object[]): object[] {
  return keys.map((key) => ({ ...key, last_used_at: null }))
}

function parseLines(text: string): object[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('a name cannot change the terminal or the direction of a line, in a table or as JSON', async () => {
  const name = 'a\u202eb\u2066c\u009b31md'
  expect((await home.run(['keys', 'create', '--name', name])).code).toBe(0)
  expect((await home.run(['keys'])).stdout).toMatch(/ abc31md$/m)
  const json = (await home.run(['keys', '--json'])).stdout
  expect(json).not.toMatch(/[\u202e\u2066\u009b]/)
  expect(parseLines(json)).toContainEqual(expect.objectContaining({ name }))
})
