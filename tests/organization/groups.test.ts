import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatStatus, createProject, createProjectKey, joinAccount } from './join-account.ts'

let gateway: TestGateway
let other: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
})
afterAll(async () => {
  await other.close()
  await gateway.close()
})

let names = 0

async function createGroup(name = `Group ${(names += 1)}`): Promise<string> {
  const { status, body } = await gateway.request('POST', '/v1/organization/groups', { body: { name } })
  expect([status, body]).toEqual([200, body])
  return String(body.id)
}

async function createPerson(projects: { id: string; role: string }[] = []) {
  return joinAccount(gateway, { email: `person${(names += 1)}@example.com`, projects })
}

const GROUPS = '/v1/organization/groups'

async function addTo(groupId: string, userId: string): Promise<void> {
  const { status } = await gateway.request('POST', `${GROUPS}/${groupId}/users`, {
    body: { user_id: userId },
  })
  expect(status).toBe(200)
}

async function giveProject(projectId: string, groupId: string, role: string): Promise<void> {
  const at = `/v1/organization/projects/${projectId}/groups`
  const { status } = await gateway.request('POST', at, { body: { group_id: groupId, role } })
  expect(status).toBe(200)
}

/** A person who is in the project with `viewer`, and a key of theirs that they made while they owned it. */
async function createViewer(projectId: string): Promise<{ id: string; key: string }> {
  const person = await createPerson([{ id: projectId, role: 'owner' }])
  const { body } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
  const at = `/v1/organization/projects/${projectId}/users/${person.id}`
  expect((await gateway.request('POST', at, { body: { role: 'viewer' } })).status).toBe(200)
  return { id: person.id, key: String(body.key) }
}

describe('what a group has in a project, its members have', () => {
  test('from the answer on, in every process, and no longer when they leave the group', async () => {
    const projectId = await createProject(gateway)
    const { id, key } = await createViewer(projectId)
    const groupId = await createGroup()
    await giveProject(projectId, groupId, 'member')
    expect([await chatStatus(gateway, key), await chatStatus(other, key)]).toEqual([403, 403])
    await addTo(groupId, id)
    expect([await chatStatus(gateway, key), await chatStatus(other, key)]).toEqual([200, 200])
    const left = await gateway.request('DELETE', `${GROUPS}/${groupId}/users/${id}`)
    expect([left.status, left.body]).toEqual([200, { object: 'group.user.deleted', deleted: true }])
    expect([await chatStatus(gateway, key), await chatStatus(other, key)]).toEqual([403, 403])
  })

  test('the stronger one of the role of the group and their own counts', async () => {
    const projectId = await createProject(gateway)
    const person = await createPerson([{ id: projectId, role: 'owner' }])
    const groupId = await createGroup()
    await giveProject(projectId, groupId, 'viewer')
    await addTo(groupId, person.id)
    const users = `/v1/organization/projects/${projectId}/users`
    expect((await person.request('GET', users)).status).toBe(200)
  })

  test('until the group is removed from the project, or deleted', async () => {
    const projectId = await createProject(gateway)
    const { id, key } = await createViewer(projectId)
    const groups = [await createGroup(), await createGroup()]
    for (const groupId of groups) {
      await giveProject(projectId, groupId, 'member')
      await addTo(groupId, id)
    }
    const at = `/v1/organization/projects/${projectId}/groups/${groups[0]}`
    expect((await gateway.request('DELETE', at)).body).toEqual({
      object: 'project.group.deleted',
      deleted: true,
    })
    expect([await chatStatus(gateway, key), await chatStatus(other, key)]).toEqual([200, 200])
    const deleted = await gateway.request('DELETE', `${GROUPS}/${groups[1]}`)
    expect(deleted.body).toEqual({ object: 'group.deleted', id: groups[1], deleted: true })
    expect([await chatStatus(gateway, key), await chatStatus(other, key)]).toEqual([403, 403])
  })
})

test('who leaves the account leaves its groups, and does not come back into them with an invitation', async () => {
  const groupId = await createGroup()
  const person = await createPerson()
  await addTo(groupId, person.id)
  await gateway.request('DELETE', `/v1/organization/users/${person.id}`)
  expect((await gateway.request('GET', `${GROUPS}/${groupId}/users`)).body.data).toEqual([])
  const again = await joinAccount(gateway, { email: person.email })
  expect(again.id).toBe(person.id)
  expect((await gateway.request('GET', `${GROUPS}/${groupId}/users`)).body.data).toEqual([])
  expect((await gateway.request('GET', `${GROUPS}/${groupId}/users/${person.id}`)).status).toBe(404)
})

describe('a group of another account, like an unknown one, is 404', () => {
  let strangers: { key: string; groupId: string; userId: string; projectId: string }

  beforeAll(async () => {
    const account = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Strangers' } })
    const made = await gateway.request('POST', `/v1/admin/accounts/${account.body.id}/api-keys`, {
      body: { name: 'first', scopes: ['inference', 'manage'] },
    })
    const key = String(made.body.key)
    const group = await gateway.request('POST', GROUPS, { key, body: { name: 'Strangers' } })
    const person = await joinAccount(gateway, { email: 'stranger@example.com', key })
    const projectId = await createProject(gateway, 'Theirs', key)
    strangers = { key, groupId: group.body.id, userId: person.id, projectId }
  })

  test('on every route', async () => {
    const own = { groupId: await createGroup(), userId: (await createPerson()).id }
    const projectId = await createProject(gateway)
    const project = `/v1/organization/projects/${projectId}/groups`
    await addTo(own.groupId, own.userId)
    const tries: [string, string, object?][] = [
      ['GET', `${GROUPS}/${strangers.groupId}`],
      ['POST', `${GROUPS}/${strangers.groupId}`, { name: 'Ours' }],
      ['DELETE', `${GROUPS}/${strangers.groupId}`],
      ['GET', `${GROUPS}/${strangers.groupId}/users`],
      ['POST', `${GROUPS}/${strangers.groupId}/users`, { user_id: own.userId }],
      ['GET', `${GROUPS}/${strangers.groupId}/users/${strangers.userId}`],
      ['DELETE', `${GROUPS}/${strangers.groupId}/users/${strangers.userId}`],
      ['POST', `${GROUPS}/${own.groupId}/users`, { user_id: strangers.userId }],
      ['GET', `${GROUPS}/${own.groupId}/users/${strangers.userId}`],
      ['DELETE', `${GROUPS}/${own.groupId}/users/${strangers.userId}`],
      ['POST', project, { group_id: strangers.groupId, role: 'owner' }],
      ['GET', `${project}/${strangers.groupId}`],
      ['DELETE', `${project}/${strangers.groupId}`],
      ['GET', `/v1/organization/projects/${strangers.projectId}/groups`],
      [
        'POST',
        `/v1/organization/projects/${strangers.projectId}/groups`,
        { group_id: own.groupId, role: 'owner' },
      ],
      ['GET', `${GROUPS}/not-an-id`],
      ['GET', `${GROUPS}/group_${'0'.repeat(32)}`],
    ]
    for (const [method, path, body] of tries) {
      const { status } = await gateway.request(method, path, body === undefined ? {} : { body })
      expect([method, path, status]).toEqual([method, path, 404])
    }
    const { body } = await gateway.request('GET', GROUPS, { key: strangers.key })
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Strangers'])
  })
})

test('a key of a project reaches no group of the account, and the groups of its project only', async () => {
  const [projectId, otherProject] = [await createProject(gateway), await createProject(gateway)]
  const groupId = await createGroup()
  await giveProject(projectId, groupId, 'member')
  const key = await createProjectKey(gateway, projectId)
  for (const path of [GROUPS, `${GROUPS}/${groupId}`, `${GROUPS}/${groupId}/users`])
    expect([path, (await gateway.request('GET', path, { key })).status]).toEqual([path, 403])
  const { body } = await gateway.request('GET', `/v1/organization/projects/${projectId}/groups`, { key })
  expect(body.data).toMatchObject([{ object: 'project.group', group_id: groupId, role: 'member' }])
  const elsewhere = `/v1/organization/projects/${otherProject}/groups`
  expect((await gateway.request('GET', elsewhere, { key })).status).toBe(404)
})

test('a key without `manage` reaches no group', async () => {
  const made = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'models only', scopes: ['inference'] },
  })
  const key = String(made.body.key)
  expect((await gateway.request('GET', GROUPS, { key })).status).toBe(403)
  expect((await gateway.request('POST', GROUPS, { key, body: { name: 'x' } })).status).toBe(403)
})

test('a restricted key can neither let people into a group nor a group into a project', async () => {
  const made = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'limited', scopes: ['inference', 'manage'], limit_usd: 1 },
  })
  const key = String(made.body.key)
  const groupId = await createGroup()
  const { id } = await createPerson()
  const projectId = await createProject(gateway)
  const at = `${GROUPS}/${groupId}/users`
  expect((await gateway.request('POST', at, { key, body: { user_id: id } })).status).toBe(403)
  const project = `/v1/organization/projects/${projectId}/groups`
  const body = { group_id: groupId, role: 'owner' }
  expect((await gateway.request('POST', project, { key, body })).status).toBe(403)
  expect((await gateway.request('DELETE', `${GROUPS}/${groupId}`, { key })).status).toBe(403)
})

test('bad input is refused and changes nothing', async () => {
  const groupId = await createGroup('Taken')
  const { id } = await createPerson()
  await addTo(groupId, id)
  const projectId = await createProject(gateway)
  await giveProject(projectId, groupId, 'viewer')
  const project = `/v1/organization/projects/${projectId}/groups`
  const tries: [string, string, unknown, number][] = [
    ['POST', GROUPS, {}, 400],
    ['POST', GROUPS, { name: '' }, 400],
    ['POST', GROUPS, { name: 'a\u0000b' }, 400],
    ['POST', GROUPS, '{"name":"\\ud800"}', 400],
    ['POST', GROUPS, { name: 'x'.repeat(201) }, 400],
    ['POST', GROUPS, { name: 'x', members: [] }, 400],
    ['POST', GROUPS, { name: 'TAKEN' }, 409],
    ['POST', `${GROUPS}/${groupId}/users`, { user_id: id }, 409],
    ['POST', `${GROUPS}/${groupId}/users`, { user_id: groupId }, 404],
    ['POST', `${GROUPS}/${groupId}/users`, { user_id: 7 }, 400],
    ['POST', project, { group_id: groupId, role: 'member' }, 409],
    ['POST', project, { group_id: groupId, role: 'king' }, 400],
    ['GET', `${GROUPS}?limit=0`, undefined, 400],
    ['GET', `${GROUPS}?after=x`, undefined, 400],
    ['GET', `${GROUPS}?order=random`, undefined, 400],
  ]
  for (const [method, path, body, expected] of tries) {
    const { status } = await gateway.request(method, path, body === undefined ? {} : { body })
    expect([method, path, body, status]).toEqual([method, path, body, expected])
  }
  expect((await gateway.request('GET', `${GROUPS}/${groupId}`)).body.name).toBe('Taken')
})

test('an archived project takes no group', async () => {
  const projectId = await createProject(gateway)
  const groupId = await createGroup()
  await gateway.request('POST', `/v1/organization/projects/${projectId}/archive`)
  const { status } = await gateway.request('POST', `/v1/organization/projects/${projectId}/groups`, {
    body: { group_id: groupId, role: 'owner' },
  })
  expect(status).toBe(409)
})

test('two requests that add the same person to a group, or make a group with the same name, at once succeed once', async () => {
  const groupId = await createGroup()
  const { id } = await createPerson()
  const adding = [gateway, other, gateway, other].map((each) =>
    each.request('POST', `${GROUPS}/${groupId}/users`, { body: { user_id: id } }),
  )
  const added = (await Promise.all(adding)).map(({ status }) => status)
  expect(added.toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409])
  const making = [gateway, other].map((each) => each.request('POST', GROUPS, { body: { name: 'At once' } }))
  const made = (await Promise.all(making)).map(({ status }) => status)
  expect(made.toSorted((a, b) => a - b)).toEqual([200, 409])
})
