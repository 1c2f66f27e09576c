import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

let gateway: TestGateway
let stranger: string

beforeAll(async () => {
  gateway = await startTestGateway()
  stranger = await createStranger(gateway)
})
afterAll(() => gateway.close())

const AT = '/v1/organization/admin_api_keys'

async function createAdminKey(body: object, key = gateway.key) {
  return gateway.request('POST', AT, { key, body })
}

async function createPlainKey(body: object): Promise<{ id: string; key: string }> {
  const answer = await gateway.request('POST', '/v1/tenants/me/api-keys', { body })
  expect([answer.status, answer.body]).toEqual([201, answer.body])
  return { id: String(answer.body.id), key: String(answer.body.key) }
}

describe('an admin key', () => {
  test('is created, shown once, read, used and deleted in the form of the Administration API', async () => {
    const { status, body } = await createAdminKey({ name: 'Provisioning', expires_in_seconds: 3600 })
    expect(status).toBe(200)
    const { value, ...shown } = body
    expect(shown).toEqual({
      object: 'organization.admin_api_key',
      id: expect.any(String),
      name: 'Provisioning',
      redacted_value: `${value.slice(0, 'pk-dev-'.length + 4)}…`,
      created_at: expect.any(Number),
      expires_at: expect.any(Number),
      last_used_at: null,
      owner: {
        type: 'organization',
        object: 'organization',
        id: expect.stringMatching(/^org-[0-9a-f]{32}$/),
        name: expect.any(String),
        created_at: expect.any(Number),
        role: 'owner',
      },
    })
    expect(Math.abs(shown.expires_at - shown.created_at - 3600)).toBeLessThan(5)
    expect((await gateway.request('GET', `${AT}/${shown.id}`)).body).toEqual(shown)
    expect((await gateway.request('GET', '/v1/organization/projects', { key: value })).status).toBe(200)
    const deleted = await gateway.request('DELETE', `${AT}/${shown.id}`)
    expect(deleted.body).toEqual({
      object: 'organization.admin_api_key.deleted',
      id: shown.id,
      deleted: true,
    })
    expect((await gateway.request('GET', '/v1/organization/projects', { key: value })).status).toBe(401)
    expect((await gateway.request('GET', `${AT}/${shown.id}`)).status).toBe(404)
    expect((await gateway.request('DELETE', `${AT}/${shown.id}`)).status).toBe(404)
  })

  test('cannot use models', async () => {
    const { body } = await createAdminKey({ name: 'No models' })
    const chat = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }
    expect(
      (await gateway.request('POST', '/v1/chat/completions', { key: body.value, body: chat })).status,
    ).toBe(403)
  })

  test('an admin key of a person is told with the person', async () => {
    const person = await joinAccount(gateway, { email: 'admin-key@example.com', role: 'owner' })
    const { status, body } = await person.request('POST', AT, { name: 'Mine' })
    expect([status, body.owner]).toEqual([
      200,
      {
        type: 'user',
        object: 'organization.user',
        id: person.id,
        name: 'Grace',
        created_at: expect.any(Number),
        role: 'owner',
      },
    ])
    await gateway.request('DELETE', `/v1/organization/users/${person.id}`)
    expect((await gateway.request('GET', AT, { key: body.value })).status).toBe(401)
  })

  test('has at most the limits of the key that made it', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const limited = await createPlainKey({
      name: 'limited',
      scopes: ['manage'],
      requests_per_minute: 50,
      expires_at: expiresAt,
    })
    const tooLong = await createAdminKey({ name: 'longer', expires_in_seconds: 7200 }, limited.key)
    expect([tooLong.status, tooLong.body.error.code]).toEqual([403, 'forbidden'])
    const { body } = await createAdminKey({ name: 'same' }, limited.key)
    expect(body.expires_at).toBe(Math.floor(Date.parse(expiresAt) / 1000))
    const read = await gateway.request('GET', `/v1/tenants/me/api-keys/${body.id}`)
    expect([read.body.requests_per_minute, read.body.scopes]).toEqual([50, ['manage']])
  })
})

test('admin keys are listed in pages both by and against their age, without other keys', async () => {
  const key = stranger
  const project = await createProject(gateway, 'Search', key)
  await createProjectKey(gateway, project, { key })
  await gateway.request('POST', '/v1/tenants/me/api-keys', {
    key,
    body: { name: 'x', scopes: ['inference'] },
  })
  const made = [
    (await createAdminKey({ name: 'one' }, key)).body.id,
    (await createAdminKey({ name: 'two' }, key)).body.id,
  ]
  for (const order of ['asc', 'desc']) {
    const ids: string[] = []
    for (let after = ''; ;) {
      const { body } = await gateway.request('GET', `${AT}?limit=1&order=${order}${after}`, { key })
      ids.push(...body.data.map(({ id }: { id: string }) => id))
      expect([body.first_id, body.last_id]).toEqual([ids.at(-1), ids.at(-1)])
      if (!body.has_more) break
      after = `&after=${body.last_id}`
    }
    expect(ids).toHaveLength(3)
    expect(order === 'asc' ? ids.slice(1) : ids.slice(0, 2).toReversed()).toEqual(made)
  }
  expect((await gateway.request('GET', `${AT}?order=up`, { key })).status).toBe(400)
  expect((await gateway.request('GET', `${AT}?after=x`, { key })).status).toBe(400)
})

describe('refused are', () => {
  test('keys of projects, also with the scope manage, and keys without it', async () => {
    const project = await createProject(gateway)
    const ofProject = await createProjectKey(gateway, project)
    const { key: plain } = await createPlainKey({ name: 'plain', scopes: ['inference'] })
    const { body } = await createAdminKey({ name: 'target' })
    for (const key of [ofProject, plain]) {
      for (const [method, path, sent] of [
        ['GET', AT, undefined],
        ['POST', AT, { name: 'x' }],
        ['GET', `${AT}/${body.id}`, undefined],
        ['DELETE', `${AT}/${body.id}`, undefined],
      ] as const) {
        const answer = await gateway.request(method, path, { key, ...(sent !== undefined && { body: sent }) })
        expect([method, path, answer.status]).toEqual([method, path, 403])
      }
    }
    expect((await gateway.request('GET', `${AT}/${body.id}`)).status).toBe(200)
  })

  test('ids of other accounts, of projects, of keys that manage nothing, and of no key', async () => {
    const project = await createProject(gateway)
    await createProjectKey(gateway, project)
    const listed = await gateway.request('GET', `/v1/organization/projects/${project}/api_keys`)
    const plain = await createPlainKey({ name: 'plain', scopes: ['inference'] })
    const { body: foreign } = await createAdminKey({ name: 'foreign' }, stranger)
    for (const id of [foreign.id, listed.body.data[0].id, plain.id, 'key_abc']) {
      expect([id, (await gateway.request('GET', `${AT}/${id}`)).status]).toEqual([id, 404])
      expect([id, (await gateway.request('DELETE', `${AT}/${id}`)).status]).toEqual([id, 404])
    }
    expect((await gateway.request('GET', `${AT}/${foreign.id}`, { key: stranger })).status).toBe(200)
  })

  test.each([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a name with a NUL', { name: 'a\u0000' }],
    ['an expiry in the past', { name: 'x', expires_in_seconds: 0 }],
    ['an expiry that is no number of seconds', { name: 'x', expires_in_seconds: 1.5 }],
    ['scopes', { name: 'x', scopes: ['admin'] }],
  ])('%s', async (_, body) => {
    expect((await createAdminKey(body)).status).toBe(400)
  })
})
