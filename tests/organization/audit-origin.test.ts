import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { connectDirectory, newPerson } from '../scim/scim-client.ts'
import { createProject, joinAccount } from './join-account.ts'

const PROXY = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'terraform/1.9' }

let gateway: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_TRUSTED_PROXIES: '127.0.0.1' } })
  const { connectionString } = gateway
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

async function newest(key: string, query = '') {
  const { status, body } = await gateway.request('GET', `/v1/organization/audit_logs?limit=10${query}`, {
    key,
  })
  expect([status, body]).toEqual([200, body])
  return body.data
}

async function accountOf(key: string): Promise<string> {
  return (await gateway.request('GET', '/v1/tenants/me', { key })).body.id
}

describe('an entry', () => {
  test('names the address and the program of a directory, and its token', async () => {
    const directory = await connectDirectory(gateway, { name: 'Okta of Acme' })
    const { body } = await directory.request('POST', '/Users', newPerson(), PROXY)
    const operation = { op: 'replace', path: 'active', value: false }
    await directory.request('PATCH', `/Users/${body.id}`, { Operations: [operation] }, PROXY)
    const entries = await newest(gateway.key)
    for (const type of ['user.added', 'user.updated']) {
      const entry = entries.find((one: { type: string }) => one.type === type)
      expect([type, entry.ip_address]).toEqual([type, '203.0.113.9'])
      expect(JSON.stringify(entry)).toContain('SCIM: Okta of Acme')
    }
  })

  test('names the address and the program of a request with a key', async () => {
    const key = await createStranger(gateway)
    await gateway.request('POST', '/v1/organization/projects', { key, headers: PROXY, body: { name: 'A' } })
    const [entry] = await newest(key)
    expect(entry).toMatchObject({
      type: 'project.created',
      actor: { type: 'api_key' },
      ip_address: '203.0.113.9',
      user_agent: 'terraform/1.9',
    })
  })

  test("names them in the session too, as OpenAI's entries do", async () => {
    const key = await createStranger(gateway)
    const person = await joinAccount(gateway, { email: 'where@example.com', role: 'owner', key })
    await gateway.request('POST', '/v1/organization/projects', {
      key: null,
      headers: { ...person.headers, ...PROXY },
      body: { name: 'A' },
    })
    const [entry, ...earlier] = await newest(key)
    const origin = { ip_address: '203.0.113.9', user_agent: 'terraform/1.9' }
    expect(entry).toMatchObject({ ...origin, actor: { type: 'session', session: origin } })
    for (const { type, ip_address: address } of earlier)
      if (type !== 'api_key.created') expect([type, address]).toEqual([type, '127.0.0.1'])
  })

  test('has at most 300 characters of the name of a program', async () => {
    const key = await createStranger(gateway)
    const headers = { 'user-agent': 'x'.repeat(4_000) }
    await gateway.request('POST', '/v1/organization/projects', { key, headers, body: { name: 'A' } })
    expect((await newest(key))[0].user_agent).toBe('x'.repeat(300))
  })

  test('an entry of what a directory did has its name', async () => {
    const key = await createStranger(gateway)
    const accountId = await accountOf(key)
    await database.query(
      `INSERT INTO account_changes (id, account_id, type, resource_id, details, actor_name, ip_address, created_at)
       VALUES ($1, $2, 'user.added', 'user-1', '{}', 'Okta', '198.51.100.1', now())`,
      [randomUUID().replace(/^.{8}/, 'ffffffff'), accountId],
    )
    expect((await newest(key))[0]).toMatchObject({
      actor: { type: 'directory', directory: { name: 'Okta' } },
      ip_address: '198.51.100.1',
    })
  })
})

describe("an operator's change of an account is in its audit log:", () => {
  const changes: readonly (readonly [string, string, string, object | undefined, object])[] = [
    ['organization.updated', 'POST', 'suspend', undefined, { changes_requested: { status: 'suspended' } }],
    ['organization.updated', 'POST', 'activate', undefined, { changes_requested: { status: 'active' } }],
    ['limits.updated', 'PATCH', 'limits', { tier: 'free' }, { changes_requested: { tier: 'free' } }],
    ['limits.updated', 'PATCH', 'limits', { tier: null }, { changes_requested: { tier: null } }],
    [
      'credit.added',
      'POST',
      'credit',
      { amount_usd: 2, reason: 'known to the operator' },
      { data: { amount_usd: 2, class: 'paid' } },
    ],
    ['credit.removed', 'POST', 'credit', { amount_usd: -1, reason: 'x' }, { data: { amount_usd: -1 } }],
    [
      'budget.updated',
      'PATCH',
      'budget',
      { daily_usd: 5 },
      { changes_requested: { window: 'day', limit_usd: 5 } },
    ],
    [
      'budget.deleted',
      'PATCH',
      'budget',
      { daily_usd: null },
      { changes_requested: { window: 'day', limit_usd: null } },
    ],
    [
      'body_storage.updated',
      'PATCH',
      'body-storage',
      { enabled: false, retention_days: 3 },
      { changes_requested: { enabled: false, retention_days: 3 } },
    ],
    ['api_key.created', 'POST', 'api-keys', { name: 'of the operator' }, {}],
  ]

  test('each of them, without a word about who the operator is', async () => {
    const key = await createStranger(gateway)
    const accountId = await accountOf(key)
    const operator = await gateway.request('GET', '/v1/tenants/me')
    for (const [type, method, path, body, details] of changes) {
      const at = `/v1/admin/accounts/${accountId}/${path}`
      const answer = await gateway.request(method, at, { headers: PROXY, ...(body && { body }) })
      expect([path, answer.status]).toEqual([path, path === 'credit' || path === 'api-keys' ? 201 : 200])
      if (path === 'suspend') continue
      const [entry] = await newest(key)
      expect(entry).toMatchObject({
        type,
        actor: { type: 'operator' },
        ip_address: null,
        user_agent: null,
        [type]: { id: expect.any(String), ...details },
      })
      const text = JSON.stringify(entry)
      for (const foreign of [operator.body.id, '203.0.113.9', 'terraform', 'known to the operator'])
        expect(text).not.toContain(foreign)
    }
    expect((await newest(key)).map(({ type }: { type: string }) => type)).toContain('organization.updated')
  })

  test('what changes nothing has no entry', async () => {
    const key = await createStranger(gateway)
    const at = `/v1/admin/accounts/${await accountOf(key)}`
    const before = (await newest(key))[0].id
    await gateway.request('POST', `${at}/activate`)
    await gateway.request('PATCH', `${at}/limits`, { body: { tier: null } })
    await gateway.request('POST', `${at}/credit`, { body: { amount_usd: -1_000, reason: 'too much' } })
    expect((await newest(key))[0].id).toBe(before)
  })

  test("in the operator's own account it has the key", async () => {
    const person = await joinAccount(gateway, { email: 'op@example.com', role: 'owner' })
    await gateway.request('POST', '/v1/admin/operators', { body: { user_id: person.id, role: 'operator' } })
    expect((await newest(gateway.key))[0]).toMatchObject({
      type: 'user.updated',
      actor: { type: 'api_key' },
      'user.updated': { id: person.id, changes_requested: { operator_role: 'operator' } },
    })
    await gateway.request('DELETE', `/v1/admin/operators/${person.id}`)
    expect((await newest(gateway.key))[0]['user.updated'].changes_requested).toEqual({ operator_role: null })
  })
})

describe('a failed sign-in is in the audit log', () => {
  const signIn = (body: object, headers: Record<string, string> = {}) =>
    gateway.request('POST', '/v1/sessions', { key: null, headers: { ...PROXY, ...headers }, body })
  const failed = (key: string) => newest(key, '&event_types[]=login.failed')

  test('with a key that was revoked, once a minute, without the key', async () => {
    const key = await createStranger(gateway)
    const { body: made } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      key,
      body: { name: 'old' },
    })
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${made.id}`, { key })
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await signIn({ api_key: made.key })).status).toBe(401)
    const entries = await failed(key)
    expect(entries).toEqual([
      expect.objectContaining({
        actor: null,
        ip_address: '203.0.113.9',
        'login.failed': {
          id: made.id,
          error_code: 'invalid_api_key',
          error_message: expect.any(String),
        },
      }),
    ])
    expect(JSON.stringify(entries)).not.toContain(String(made.key).slice(-20))
  })

  test('with a session that another key should confirm, with its person', async () => {
    const key = await createStranger(gateway)
    const person = await joinAccount(gateway, { email: 'confirm@example.com', role: 'owner', key })
    for (const wrong of [gateway.key, `${key.slice(0, -4)}xxxx`])
      await person.request('POST', '/v1/sessions/current/confirm', { api_key: wrong })
    expect(await failed(key)).toMatchObject([
      { actor: { type: 'session', session: { user: { id: person.id } } } },
    ])
    // The account of the key that was tried learns nothing of the session.
    expect(await failed(gateway.key)).toEqual([])
  })

  test('with an invitation that was used', async () => {
    const key = await createStranger(gateway)
    const { body: invite } = await gateway.request('POST', '/v1/organization/invites', {
      key,
      body: { email: 'twice@example.com', role: 'reader' },
    })
    const accept = () =>
      gateway.request('POST', '/v1/invites/accept', { key: null, body: { code: invite.code } })
    expect((await accept()).status).toBe(201)
    expect((await accept()).status).toBe(401)
    expect(await failed(key)).toMatchObject([{ actor: null, 'login.failed': { id: invite.id } }])
  })

  test('a guess is in no log, and gets the same answer', async () => {
    const guess = `pk-dev-${'G'.repeat(40)}`
    const count = 'SELECT count(*)::int AS entries FROM account_changes'
    const before = await database.query(count)
    expect((await signIn({ api_key: guess })).status).toBe(401)
    expect((await signIn({ code: 'x'.repeat(43) })).status).toBe(401)
    expect(await database.query(count)).toEqual(before)
  })
})

test('what came from a request has its address, and only that', async () => {
  await createProject(gateway)
  const rows = await database.query(
    `SELECT DISTINCT type FROM account_changes
     WHERE (actor_key_id IS NOT NULL AND ip_address IS NULL) OR (actor_key_id IS NULL AND actor_name IS NULL
       AND type <> 'login.failed' AND ip_address IS NOT NULL)`,
  )
  expect(rows).toEqual([])
})
