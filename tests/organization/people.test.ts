import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatStatus, createProject, joinAccount } from './join-account.ts'

let gateway: TestGateway
let stranger: string

beforeAll(async () => {
  gateway = await startTestGateway()
  stranger = await createStranger(gateway)
})
afterAll(() => gateway.close())

const USERS = '/v1/organization/users'
const KEYS = '/v1/tenants/me/api-keys'
let made = 0
const email = () => `person-${(made += 1)}@Example.com`

/** Makes a key of the person in their session. */
async function ownKey(person: Awaited<ReturnType<typeof joinAccount>>, body: object = {}): Promise<string> {
  const answer = await person.request('POST', KEYS, body)
  expect([answer.status, answer.body]).toEqual([201, answer.body])
  expect(answer.body.user_id).toBe(person.id)
  return String(answer.body.key)
}

describe('a member', () => {
  test('is told in the form of the Administration API', async () => {
    const project = await createProject(gateway)
    const person = await joinAccount(gateway, {
      email: email(),
      role: 'billing',
      projects: [{ id: project, role: 'viewer' }],
    })
    const { status, body } = await gateway.request('GET', `${USERS}/${person.id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'organization.user',
      id: expect.stringMatching(/^user-[0-9a-f]{32}$/),
      name: 'Grace',
      email: person.email,
      role: 'billing',
      user: { object: 'user', id: person.id, enabled: true, banned: false },
      projects: { object: 'list', data: [{ id: project, name: 'Search', role: 'viewer' }] },
    })
  })

  test('is 404 for another account on every route, and in no list of it', async () => {
    const { id, email: address } = await joinAccount(gateway, { email: email() })
    for (const [method, body] of [['GET'], ['POST', { role: 'owner' }], ['DELETE']] as const) {
      const given = { key: stranger, ...(body === undefined ? {} : { body }) }
      expect((await gateway.request(method, `${USERS}/${id}`, given)).status).toBe(404)
    }
    const { body: list } = await gateway.request('GET', `${USERS}?emails=${address}`, { key: stranger })
    expect(list).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false })
    const project = await createProject(gateway, 'Theirs', stranger)
    for (const person of [{ user_id: id }, { email: address }]) {
      const added = await gateway.request('POST', `/v1/organization/projects/${project}/users`, {
        key: stranger,
        body: { ...person, role: 'member' },
      })
      expect(added.status).toBe(404)
    }
  })

  test('has keys that end with the membership, and do not come back with it', async () => {
    const address = email()
    const person = await joinAccount(gateway, { email: address, role: 'owner' })
    const key = await ownKey(person)
    expect(await chatStatus(gateway, key)).toBe(200)
    const removed = await gateway.request('DELETE', `${USERS}/${person.id}`)
    expect(removed.body).toEqual({ object: 'organization.user.deleted', id: person.id, deleted: true })
    expect(await chatStatus(gateway, key)).toBe(401)
    expect((await person.request('GET', '/v1/tenants/me')).status).toBe(401)
    const again = await joinAccount(gateway, { email: address.toUpperCase(), role: 'owner' })
    expect(again.id).toBe(person.id)
    expect(await chatStatus(gateway, key)).toBe(401)
    expect((await person.request('GET', '/v1/tenants/me')).status).toBe(401)
    expect((await again.request('GET', '/v1/tenants/me')).status).toBe(200)
  })

  test('a person of two accounts loses only the one that removes them', async () => {
    const address = email()
    const [here, there] = [
      await joinAccount(gateway, { email: address, role: 'owner', name: 'Ada here' }),
      await joinAccount(gateway, { email: address, role: 'owner', name: 'Ada there', key: stranger }),
    ]
    expect(there.id).toBe(here.id)
    const names = [gateway.key, stranger].map(async (key) => {
      const { body } = await gateway.request('GET', `${USERS}/${here.id}`, { key })
      return body.name
    })
    expect(await Promise.all(names)).toEqual(['Ada here', 'Ada there'])
    const [keyHere, keyThere] = [await ownKey(here), await ownKey(there)]
    expect((await gateway.request('DELETE', `${USERS}/${here.id}`)).status).toBe(200)
    expect((await gateway.request('GET', '/v1/models', { key: keyHere })).status).toBe(401)
    expect((await gateway.request('GET', '/v1/models', { key: keyThere })).status).toBe(200)
    expect((await there.request('GET', '/v1/tenants/me')).status).toBe(200)
  })

  test('cannot do with a key what their new role does not allow', async () => {
    const person = await joinAccount(gateway, { email: email(), role: 'owner' })
    const key = await ownKey(person)
    expect((await gateway.request('GET', USERS, { key })).status).toBe(200)
    const changed = await gateway.request('POST', `${USERS}/${person.id}`, { body: { role: 'reader' } })
    expect(changed.body.role).toBe('reader')
    for (const path of [USERS, '/v1/organization/projects']) {
      expect((await gateway.request('GET', path, { key })).status).toBe(403)
      expect((await person.request('GET', path)).status).toBe(403)
    }
    expect(await chatStatus(gateway, key)).toBe(403)
    // Not even to get the role back.
    const raised = await gateway.request('POST', `${USERS}/${person.id}`, { key, body: { role: 'owner' } })
    expect(raised.status).toBe(403)
  })

  test.each([{ role: 'king' }, { role_id: 'role_1' }, { technical_level: 'high' }, { scopes: [] }])(
    'is not changed by %j',
    async (body) => {
      const { id } = await joinAccount(gateway, { email: email() })
      expect((await gateway.request('POST', `${USERS}/${id}`, { body })).status).toBe(400)
      expect((await gateway.request('GET', `${USERS}/${id}`)).body.role).toBe('reader')
    },
  )
})

describe('a member of a project', () => {
  test('is added, changed and removed, with their keys', async () => {
    const project = await createProject(gateway)
    const at = `/v1/organization/projects/${project}/users`
    const person = await joinAccount(gateway, { email: email(), projects: [{ id: project, role: 'owner' }] })
    const other = await joinAccount(gateway, { email: email() })
    const added = await person.request('POST', at, { email: other.email.toLowerCase(), role: 'member' })
    expect(added.body).toMatchObject({ object: 'organization.project.user', id: other.id, role: 'member' })
    expect((await gateway.request('POST', at, { body: { user_id: other.id, role: 'member' } })).status).toBe(
      409,
    )
    expect((await gateway.request('POST', at, { body: { role: 'member' } })).status).toBe(400)
    expect((await gateway.request('GET', at)).body.data).toHaveLength(2)
    const key = await ownKey(person)
    const renamed = () =>
      gateway.request('POST', `/v1/organization/projects/${project}`, { key, body: { name: 'Mine' } })
    expect((await renamed()).status).toBe(200)
    const changed = await gateway.request('POST', `${at}/${person.id}`, { body: { role: 'member' } })
    expect(changed.body.role).toBe('member')
    expect((await renamed()).status).toBe(403)
    expect((await gateway.request('GET', at, { key })).status).toBe(200)
    expect(await chatStatus(gateway, key)).toBe(200)
    await gateway.request('POST', `${at}/${person.id}`, { body: { role: 'viewer' } })
    expect(await chatStatus(gateway, key)).toBe(403)
    const removed = await gateway.request('DELETE', `${at}/${person.id}`)
    expect(removed.body).toMatchObject({ object: 'organization.project.user.deleted', id: person.id })
    expect(await chatStatus(gateway, key)).toBe(401)
    expect((await person.request('GET', '/v1/tenants/me')).status).toBe(401)
    expect((await gateway.request('GET', `${at}/${person.id}`)).status).toBe(404)
    expect((await gateway.request('GET', `${USERS}/${person.id}`)).status).toBe(200)
  })

  test('reaches no other project and nothing of the account', async () => {
    const [own, other] = [await createProject(gateway), await createProject(gateway)]
    const person = await joinAccount(gateway, { email: email(), projects: [{ id: own, role: 'owner' }] })
    expect((await person.request('GET', `/v1/organization/projects/${own}`)).status).toBe(200)
    expect((await person.request('GET', `/v1/organization/projects/${other}`)).status).toBe(404)
    expect((await person.request('GET', USERS)).status).toBe(403)
    const key = await person.request('POST', KEYS, { name: 'x', project_id: other })
    expect(key.status).toBe(404)
  })
})

describe('an invitation', () => {
  const INVITES = '/v1/organization/invites'
  const invite = async (body: object, key = gateway.key) => gateway.request('POST', INVITES, { key, body })
  const accept = async (code: string) =>
    gateway.request('POST', '/v1/invites/accept', { key: null, body: { code, name: 'Grace' } })

  test('shows its link once, and works once', async () => {
    const { status, body } = await invite({ email: email(), role: 'reader' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'organization.invite',
      role: 'reader',
      status: 'pending',
      projects: [],
    })
    expect(body.url).toBe(`${gateway.baseUrl}/accept-invite#code=${body.code}`)
    expect(body.expires_at - body.created_at).toBe(7 * 24 * 60 * 60)
    const read = await gateway.request('GET', `${INVITES}/${body.id}`)
    expect(JSON.stringify(read.body)).not.toContain(body.code)
    const looked = await gateway.fetch('GET', `/v1/invites/accept?code=${body.code}`, { key: null })
    expect(looked.status).toBe(405)
    const answers = await Promise.all([accept(body.code), accept(body.code)])
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201, 401]))
    expect((await gateway.request('GET', `${INVITES}/${body.id}`)).body.status).toBe('accepted')
    expect((await gateway.request('DELETE', `${INVITES}/${body.id}`)).status).toBe(404)
  })

  test('is replaced by another one of the same address, and can be withdrawn', async () => {
    const address = email()
    const { body: first } = await invite({ email: address, role: 'reader' })
    const { body: second } = await invite({ email: address.toUpperCase(), role: 'owner' })
    expect((await gateway.request('GET', `${INVITES}/${first.id}`)).status).toBe(404)
    expect((await accept(first.code)).status).toBe(401)
    const deleted = await gateway.request('DELETE', `${INVITES}/${second.id}`)
    expect(deleted.body).toEqual({ object: 'organization.invite.deleted', id: second.id, deleted: true })
    expect((await accept(second.code)).body.error.code).toBe('invalid_sign_in_code')
  })

  test('is 404 for another account', async () => {
    const { body } = await invite({ email: email(), role: 'reader' })
    for (const method of ['GET', 'DELETE'])
      expect((await gateway.request(method, `${INVITES}/${body.id}`, { key: stranger })).status).toBe(404)
    const { body: list } = await gateway.request('GET', INVITES, { key: stranger })
    expect(JSON.stringify(list)).not.toContain(body.id)
  })

  test('an invitation of a member, to a project of another account or with a wrong address is refused', async () => {
    const { email: address } = await joinAccount(gateway, { email: email() })
    expect((await invite({ email: address, role: 'owner' })).status).toBe(409)
    const theirs = await createProject(gateway, 'Theirs', stranger)
    const projects = [{ id: theirs, role: 'owner' }]
    expect((await invite({ email: email(), role: 'reader', projects })).status).toBe(404)
    for (const wrong of ['', 'nobody', 'a b@example.com', 'x@y@z', `${'x'.repeat(400)}@example.com`])
      expect((await invite({ email: wrong, role: 'reader' })).status).toBe(400)
    expect((await invite({ email: email(), role: 'king' })).status).toBe(400)
  })

  test('is not sent by a restricted key, whose limits the person would not have', async () => {
    const { body: key } = await gateway.request('POST', KEYS, {
      body: { name: 'limited', scopes: ['inference', 'manage'], limit_usd: 1 },
    })
    expect((await invite({ email: email(), role: 'owner' }, key.key)).status).toBe(403)
  })

  test('starts a session whose key is in no list and counts as none', async () => {
    const before = (await gateway.request('GET', KEYS)).body.total
    const person = await joinAccount(gateway, { email: email(), role: 'owner' })
    const { body: after } = await gateway.request('GET', KEYS)
    expect(after.total).toBe(before)
    const { body: sessions } = await person.request('GET', '/v1/sessions')
    const current = sessions.data.find((one: { is_current: boolean }) => one.is_current)
    for (const method of ['GET', 'DELETE'])
      expect((await gateway.request(method, `${KEYS}/${current.key_id}`)).status).toBe(404)
    expect((await person.request('GET', '/v1/tenants/me')).status).toBe(200)
  })

  test('opens no other account of the person', async () => {
    const address = email()
    const theirs = await joinAccount(gateway, { email: address, role: 'owner', key: stranger })
    const here = await joinAccount(gateway, { email: address })
    const [own, other] = [
      await here.request('GET', '/v1/tenants/me'),
      await theirs.request('GET', '/v1/tenants/me'),
    ]
    expect(own.body.id).not.toBe(other.body.id)
    expect((await here.request('GET', '/v1/sessions')).body.total).toBe(1)
  })
})

describe('a deactivated person', () => {
  test('has no access in any account until they are active again', async () => {
    const address = email()
    const people = [
      await joinAccount(gateway, { email: address, role: 'owner' }),
      await joinAccount(gateway, { email: address, role: 'owner', key: stranger }),
    ] as const
    const keys = [await ownKey(people[0]), await ownKey(people[1])]
    const statuses = () =>
      Promise.all(keys.map(async (key) => (await gateway.request('GET', '/v1/models', { key })).status))
    expect(await statuses()).toEqual([200, 200])
    const path = `/v1/admin/users/${people[0].id}`
    const deactivated = await gateway.request('POST', `${path}/deactivate`)
    expect(deactivated.body).toMatchObject({ object: 'user', id: people[0].id, status: 'deactivated' })
    expect(await statuses()).toEqual([401, 401])
    for (const person of people) expect((await person.request('GET', '/v1/tenants/me')).status).toBe(401)
    const { body: user } = await gateway.request('GET', `${USERS}/${people[0].id}`)
    expect(user.user).toMatchObject({ enabled: false, banned: true })
    expect((await gateway.request('POST', `${path}/activate`)).body.status).toBe('active')
    expect(await statuses()).toEqual([200, 200])
    const { body: audit } = await gateway.request('GET', '/v1/admin/audit?limit=2')
    expect(audit.data.map(({ action }: { action: string }) => action)).toEqual([
      'user.activate',
      'user.deactivate',
    ])
    expect((await gateway.request('POST', '/v1/admin/users/user-1/deactivate')).status).toBe(404)
  })
})
