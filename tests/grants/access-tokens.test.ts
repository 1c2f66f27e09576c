import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureTokenKey } from '../../src/modules/keys/change/token-key.ts'
import { issueAccessToken } from '../../src/modules/keys/change/access-tokens.ts'
import { parseWireId } from '../../src/wires/organization-ids.ts'
import { chatStatus, createProject, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let other: TestGateway
let database: Client

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
  database = new Client({ connectionString: gateway.connectionString, options: '-c search_path=parkway' })
  await database.connect()
})

afterAll(async () => {
  await database.end()
  await other.close()
  await gateway.close()
})

interface Place {
  readonly userId?: string
  readonly serviceAccountId?: string
  readonly projectId: string | null
  readonly lifeMs?: number
}

/** Issues an access token as the modules that exchange and refresh tokens do. */
async function issueToken({ userId, serviceAccountId, projectId, lifeMs = 60_000 }: Place): Promise<string> {
  const queryable = {
    query: async (sql: string, values?: readonly unknown[]) =>
      (await database.query(sql, [...(values ?? [])])).rows,
  }
  const { body } = await gateway.request('GET', '/v1/tenants/me')
  const accountId = String(body.id)
  const owner = {
    accountId,
    userId: userId === undefined ? null : parseWireId('user', userId),
    serviceAccountId: serviceAccountId === undefined ? null : parseWireId('serviceAccount', serviceAccountId),
    projectId: projectId === null ? null : parseWireId('project', projectId),
    environment: 'dev',
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- the rows are those of the statement
  const transaction = queryable as any
  const keyId = await ensureTokenKey(transaction, owner, Date.now())
  const { token } = await issueAccessToken(
    transaction,
    { accountId, keyId, grantId: null, lifeMs },
    Date.now(),
  )
  return token
}

async function createPerson(role = 'owner'): Promise<{ person: Person; projectId: string }> {
  const projectId = await createProject(gateway)
  const email = `${projectId.slice(-12)}@example.com`
  const person = await joinAccount(gateway, { email, role, projects: [{ id: projectId, role: 'member' }] })
  return { person, projectId }
}

describe('an access token', () => {
  test('works like a key of its person, in every process', async () => {
    const { person, projectId } = await createPerson('reader')
    const token = await issueToken({ userId: person.id, projectId })
    expect(await chatStatus(gateway, token)).toBe(200)
    expect(await chatStatus(other, token)).toBe(200)
    expect((await gateway.request('GET', '/v1/tenants/me', { key: token })).status).toBe(200)
  })

  test('works in the header of Anthropic’s clients', async () => {
    const { person, projectId } = await createPerson('reader')
    const token = await issueToken({ userId: person.id, projectId })
    const { status } = await gateway.request('POST', '/v1/messages', {
      key: null,
      headers: { 'x-api-key': token },
      body: { model: 'gpt-5.4-mini', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect(status).toBe(200)
  })

  test('is refused when it has expired, in the words of RFC 6750', async () => {
    const { person, projectId } = await createPerson('reader')
    const token = await issueToken({ userId: person.id, projectId, lifeMs: -1000 })
    const answer = await gateway.request('GET', '/v1/tenants/me', { key: token })
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key'])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })

  test.each(['pt-', 'pt-short', `pt-${'x'.repeat(44)}`, `pt-${'-'.repeat(43)}`])(
    '%s is malformed',
    async (key) => {
      expect(await chatStatus(gateway, key)).toBe(401)
    },
  )

  test('is refused everywhere when its person is deactivated, and when they leave the project', async () => {
    const { person, projectId } = await createPerson('reader')
    const token = await issueToken({ userId: person.id, projectId })
    expect(await chatStatus(other, token)).toBe(200)
    await gateway.request('DELETE', `/v1/organization/projects/${projectId}/users/${person.id}`)
    expect(await chatStatus(other, token)).toBe(401)
    const second = await createPerson('reader')
    const secondToken = await issueToken({ userId: second.person.id, projectId: second.projectId })
    expect(await chatStatus(other, secondToken)).toBe(200)
    await gateway.request('POST', `/v1/admin/users/${second.person.id}/deactivate`)
    expect(await chatStatus(other, secondToken)).toBe(401)
  })

  test('is refused when it is of a service account that is deleted', async () => {
    const projectId = await createProject(gateway)
    const at = `/v1/organization/projects/${projectId}/service_accounts`
    const { body } = await gateway.request('POST', at, { body: { name: 'CI' } })
    const token = await issueToken({ serviceAccountId: body.id, projectId })
    expect(await chatStatus(other, token)).toBe(200)
    await gateway.request('DELETE', `${at}/${body.id}`)
    expect(await chatStatus(other, token)).toBe(401)
  })

  test('has no rights of an operator', async () => {
    const { person } = await createPerson('owner')
    const named = await gateway.request('POST', '/v1/admin/operators', {
      body: { user_id: person.id, role: 'operator' },
    })
    expect(named.status).toBeLessThan(300)
    expect((await person.request('GET', '/v1/admin/accounts')).status).toBe(200)
    const token = await issueToken({ userId: person.id, projectId: null })
    expect((await gateway.request('GET', '/v1/organization/users', { key: token })).status).toBe(200)
    expect((await gateway.request('GET', '/v1/admin/accounts', { key: token })).status).toBe(403)
  })

  test('makes no keys, changes none, gives no rights, and starts and confirms no session', async () => {
    const { person, projectId } = await createPerson('owner')
    const key = await issueToken({ userId: person.id, projectId: null })
    const { body: own } = await gateway.request('GET', '/v1/tenants/me/api-keys')
    const refused: [string, string, unknown][] = [
      ['POST', '/v1/tenants/me/api-keys', { name: 'stolen' }],
      ['PATCH', `/v1/tenants/me/api-keys/${own.data[0].id}`, { name: 'renamed' }],
      ['POST', '/v1/organization/admin_api_keys', { name: 'stolen' }],
      ['POST', `/v1/organization/projects/${projectId}/service_accounts`, { name: 'CI' }],
      ['POST', '/v1/organization/invites', { email: 'thief@example.com', role: 'owner' }],
      ['POST', `/v1/organization/users/${person.id}`, { role: 'reader' }],
    ]
    for (const [method, path, body] of refused) {
      const answer = await gateway.request(method, path, { key, body })
      expect([path, answer.status, answer.body.error?.message]).toEqual([
        path,
        403,
        expect.stringContaining('tool'),
      ])
    }
    const paid = await gateway.request('POST', '/v1/payments/checkout', { key, body: { amount_usd: 5 } })
    expect([paid.status, paid.body.error.code]).toEqual([403, 'forbidden'])
    const session = await gateway.request('POST', '/v1/sessions', { key: null, body: { api_key: key } })
    expect([session.status, session.body.error.message]).toEqual([
      400,
      'This is an access token and no API key.',
    ])
    const confirmed = await person.request('POST', '/v1/sessions/current/confirm', { api_key: key })
    expect(confirmed.status).toBe(400)
  })

  test('leaves no key in any list', async () => {
    const { person, projectId } = await createPerson('reader')
    const token = await issueToken({ userId: person.id, projectId })
    expect(await chatStatus(gateway, token)).toBe(200)
    const { body: all } = await gateway.request('GET', '/v1/tenants/me/api-keys?limit=100')
    const { body: ofProject } = await gateway.request(
      'GET',
      `/v1/organization/projects/${projectId}/api_keys`,
    )
    const names = [...all.data, ...ofProject.data].map(({ name }) => name)
    expect(names).not.toContain('Connected tools')
  })
})

describe('the token endpoint', () => {
  const post = (body: string, type = 'application/x-www-form-urlencoded') =>
    gateway.request('POST', '/oauth/token', { key: null, body, headers: { 'content-type': type } })

  test('answers errors of OAuth, which nobody caches', async () => {
    const answer = await post('grant_type=password&username=ada')
    expect([answer.status, answer.body.error]).toEqual([400, 'unsupported_grant_type'])
    expect(Object.keys(answer.body)).toEqual(['error', 'error_description'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test.each([
    ['', 'invalid_request'],
    ['grant_type=', 'invalid_request'],
    ['grant_type=a&grant_type=b', 'invalid_request'],
    ['grant_type=a&x=1&x=1', 'invalid_request'],
    [`grant_type=a&${Array.from({ length: 60 }, (_, n) => `f${n}=1`).join('&')}`, 'invalid_request'],
    ['grant_type=a&x=%00', 'invalid_request'],
    ['grant_type=__proto__', 'unsupported_grant_type'],
  ])('refuses %j', async (body, error) => {
    const answer = await post(body)
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })

  test('takes only its own content type, and no large bodies', async () => {
    expect((await post('{"grant_type":"a"}', 'application/json')).status).toBe(415)
    const large = await post(`grant_type=a&x=${'y'.repeat(40_000)}`)
    expect([large.status, large.body.error]).toEqual([413, 'invalid_request'])
  })
})
