import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { chatStatus, createProject, joinAccount } from './join-account.ts'

let gateway: TestGateway
let other: TestGateway
let names = 0

beforeAll(async () => {
  gateway = await startTestGateway()
  other = await startTestGateway({ connectionString: gateway.connectionString })
})
afterAll(async () => {
  await other.close()
  await gateway.close()
})

const ROLES = '/v1/organization/roles'
const nextName = () => `Name ${(names += 1)}`

function join(projects: { id: string; role: string }[] = [], role = 'reader') {
  return joinAccount(gateway, { email: `person${(names += 1)}@example.com`, role, projects })
}
type Person = Awaited<ReturnType<typeof join>>

async function createRole(permissions: string[], at = ROLES): Promise<string> {
  const { status, body } = await gateway.request('POST', at, { body: { role_name: nextName(), permissions } })
  expect([status, body]).toEqual([200, body])
  return String(body.id)
}

async function give(at: string, roleId: string): Promise<void> {
  const { status, body } = await gateway.request('POST', `${at}/roles`, { body: { role_id: roleId } })
  expect([status, body]).toEqual([200, body])
}

/** A person whose session sees the whole account, with these permissions. */
async function personWith(...permissions: string[]): Promise<Person> {
  const person = await join()
  if (permissions.length > 0) await give(`/v1/organization/users/${person.id}`, await createRole(permissions))
  return person
}

const permissionsOf = async (person: Person): Promise<string[]> =>
  (await person.request('GET', '/v1/tenants/me/permissions')).body.permissions

const failure = ({ status, body }: TestAnswer) => [status, body.error?.code]

describe('a role of the account', () => {
  test('has its members, is changed and deleted, and counts in every process from the answer on', async () => {
    const made = await gateway.request('POST', ROLES, {
      body: { role_name: 'Cost watcher', permissions: ['usage.read', 'usage.read'], description: 'Looks' },
    })
    expect(made.body).toEqual({
      object: 'role',
      id: expect.stringMatching(/^role_[0-9a-f]{32}$/),
      name: 'Cost watcher',
      description: 'Looks',
      permissions: ['usage.read'],
      resource_type: 'api.organization',
      predefined_role: false,
    })
    const person = await join()
    await give(`/v1/organization/users/${person.id}`, made.body.id)
    expect(await permissionsOf(person)).toEqual(['keys.own', 'usage.read'])
    const changed = await gateway.request('POST', `${ROLES}/${made.body.id}`, {
      body: { permissions: ['log.read'] },
    })
    expect([changed.status, changed.body.permissions, changed.body.name]).toEqual([
      200,
      ['log.read'],
      'Cost watcher',
    ])
    expect(await permissionsOf(person)).toEqual(['keys.own', 'log.read'])
    const deleted = await gateway.request('DELETE', `${ROLES}/${made.body.id}`)
    expect(deleted.body).toEqual({ object: 'role.deleted', id: made.body.id, deleted: true })
    expect(await permissionsOf(person)).toEqual(['keys.own'])
  })

  test('adds to the others of a person, also by a group, and ends with the group', async () => {
    const person = await personWith('usage.read')
    const group = await gateway.request('POST', '/v1/organization/groups', { body: { name: nextName() } })
    const at = `/v1/organization/groups/${group.body.id}`
    await gateway.request('POST', `${at}/users`, { body: { user_id: person.id } })
    await give(at, await createRole(['audit.read']))
    await give(at, 'role_billing')
    const all = ['keys.own', 'organization.read', 'usage.read', 'audit.read', 'billing.manage']
    expect((await permissionsOf(person)).toSorted()).toEqual(all.toSorted())
    const listed = await gateway.request('GET', `${at}/roles?order=asc`)
    expect(listed.body.data.map(({ permissions }: { permissions: string[] }) => permissions[0])).toEqual([
      'audit.read',
      'keys.own',
    ])
    await gateway.request('DELETE', at)
    expect(await permissionsOf(person)).toEqual(['keys.own', 'usage.read'])
  })
})

test('a role of a project counts in that project only, and ends when the person leaves it', async () => {
  const [here, there] = [await createProject(gateway), await createProject(gateway)]
  const person = await join([
    { id: here, role: 'viewer' },
    { id: there, role: 'viewer' },
  ])
  const roleId = await createRole(['models.use', 'keys.own'], `/v1/projects/${here}/roles`)
  const at = `/v1/projects/${here}/users/${person.id}`
  await give(at, roleId)
  const made = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own', scopes: ['inference'] })
  expect(await chatStatus(other, made.body.key)).toBe(200)
  expect(
    failure(
      await gateway.request('POST', `/v1/projects/${there}/users/${person.id}/roles`, {
        body: { role_id: roleId },
      }),
    ),
  ).toEqual([404, 'not_found'])
  expect(
    failure(
      await gateway.request('POST', `/v1/organization/users/${person.id}/roles`, {
        body: { role_id: roleId },
      }),
    ),
  ).toEqual([404, 'not_found'])
  expect((await gateway.request('DELETE', `${at}/roles/${roleId}`)).body).toEqual({
    object: 'user.role.deleted',
    deleted: true,
  })
  expect(await chatStatus(other, made.body.key)).toBe(403)
  await give(at, roleId)
  expect(await chatStatus(other, made.body.key)).toBe(200)
  await gateway.request('DELETE', `/v1/organization/projects/${here}/users/${person.id}`)
  await gateway.request('POST', `/v1/organization/projects/${here}/users`, {
    body: { user_id: person.id, role: 'viewer' },
  })
  const { body } = await gateway.request('GET', `${at}/roles`)
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['role_viewer'])
})

describe('nobody gives or takes what they lack', () => {
  test('a role with a further permission is neither made, changed, given, taken nor deleted', async () => {
    const person = await personWith('members.manage', 'organization.read', 'usage.read')
    const stronger = await createRole(['billing.manage'])
    const weaker = await createRole(['usage.read'])
    const target = await join()
    const at = `/v1/organization/users/${target.id}/roles`
    await give(`/v1/organization/users/${target.id}`, stronger)
    const tries: [string, string, object?][] = [
      ['POST', ROLES, { role_name: nextName(), permissions: ['usage.read', 'billing.manage'] }],
      ['POST', `${ROLES}/${weaker}`, { permissions: ['usage.read', 'billing.manage'] }],
      ['POST', `${ROLES}/${stronger}`, { permissions: ['usage.read'] }],
      ['POST', `${ROLES}/${stronger}`, { role_name: nextName() }],
      ['DELETE', `${ROLES}/${stronger}`],
      ['POST', `/v1/organization/users/${person.id}/roles`, { role_id: stronger }],
      ['POST', `/v1/organization/users/${person.id}/roles`, { role_id: 'role_owner' }],
      ['POST', `/v1/organization/users/${person.id}/roles`, { role_id: 'owner' }],
      ['DELETE', `${at}/${stronger}`],
      ['POST', `/v1/organization/users/${person.id}`, { role: 'owner' }],
      ['POST', `/v1/organization/users/${target.id}`, { role: 'billing' }],
      ['DELETE', `/v1/organization/users/${target.id}`],
      ['POST', '/v1/organization/invites', { email: 'accomplice@example.com', role: 'owner' }],
    ]
    for (const [method, path, body] of tries)
      expect([method, path, body, ...failure(await person.request(method, path, body))]).toEqual([
        method,
        path,
        body,
        403,
        'forbidden',
      ])
    const own = await person.request('POST', ROLES, { role_name: nextName(), permissions: ['usage.read'] })
    expect(own.status).toBe(200)
    expect((await person.request('POST', at, { role_id: own.body.id })).status).toBe(200)
  })

  test('a person neither enters a group that has more than they, nor gives a project to one', async () => {
    const person = await personWith('members.manage', 'organization.read')
    const made = await gateway.request('POST', '/v1/organization/groups', { body: { name: nextName() } })
    const group = `/v1/organization/groups/${made.body.id}`
    await give(group, 'role_owner')
    const add = () => person.request('POST', `${group}/users`, { user_id: person.id })
    expect(failure(await add())).toEqual([403, 'forbidden'])
    expect(failure(await person.request('DELETE', group))).toEqual([403, 'forbidden'])
    const projectId = await createProject(gateway)
    const plain = await person.request('POST', '/v1/organization/groups', { name: nextName() })
    const projects = `/v1/organization/projects/${projectId}/groups`
    const given = await person.request('POST', projects, { group_id: plain.body.id, role: 'member' })
    expect(failure(given)).toEqual([403, 'forbidden'])
    await gateway.request('POST', projects, { body: { group_id: plain.body.id, role: 'owner' } })
    const entered = await person.request('POST', `/v1/organization/groups/${plain.body.id}/users`, {
      user_id: person.id,
    })
    expect(failure(entered)).toEqual([403, 'forbidden'])
  })

  test('a person with `keys.manage` gets nothing by a service account, its role, or a key of it', async () => {
    const projectId = await createProject(gateway)
    const person = await join([{ id: projectId, role: 'viewer' }])
    const roleId = await createRole(['keys.manage', 'keys.own'], `/v1/projects/${projectId}/roles`)
    await give(`/v1/projects/${projectId}/users/${person.id}`, roleId)
    const at = `/v1/organization/projects/${projectId}/service_accounts`
    const owner = await gateway.request('POST', at, { body: { name: 'Owner' } })
    await gateway.request('POST', `${at}/${owner.body.id}`, { body: { role: 'owner' } })
    const scopes = ['manage']
    const tries: [string, object][] = [
      [at, { name: 'Mine' }],
      [`${at}/${owner.body.id}/api_keys`, { scopes }],
      [`${at}/${owner.body.id}/api_keys`, {}],
    ]
    for (const [path, body] of tries)
      expect([path, body, ...failure(await person.request('POST', path, body))]).toEqual([
        path,
        body,
        403,
        'forbidden',
      ])
    const own = await person.request('POST', at, { name: 'Mine', create_service_account_only: true })
    expect(own.status).toBe(200)
    const raised = await person.request('POST', `${at}/${own.body.id}`, { role: 'owner' })
    expect(failure(raised)).toEqual([403, 'forbidden'])
  })

  test('a person changes and revokes only their own keys without `keys.manage`', async () => {
    const projectId = await createProject(gateway)
    const [one, two] = [
      await join([{ id: projectId, role: 'member' }]),
      await join([{ id: projectId, role: 'member' }]),
    ]
    const made = await one.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
    const at = `/v1/tenants/me/api-keys/${made.body.id}`
    expect(failure(await two.request('PATCH', at, { name: 'mine' }))).toEqual([403, 'forbidden'])
    expect(failure(await two.request('DELETE', at))).toEqual([403, 'forbidden'])
    expect((await one.request('PATCH', at, { name: 'renamed' })).status).toBe(200)
    expect((await one.request('DELETE', at)).status).toBe(200)
  })

  test('an invitation gives nothing after whoever sent it has lost that', async () => {
    const sender = await join([], 'owner')
    const invited = await sender.request('POST', '/v1/organization/invites', {
      email: 'late@example.com',
      role: 'owner',
    })
    expect(invited.status).toBe(200)
    await gateway.request('POST', `/v1/organization/users/${sender.id}`, { body: { role: 'reader' } })
    const accepted = await gateway.request('POST', '/v1/invites/accept', {
      key: null,
      body: { code: invited.body.code, name: 'Late' },
    })
    expect(failure(accepted)).toEqual([401, 'invalid_sign_in_code'])
  })
})

test('predefined roles are listed as the oldest, and stay as they are', async () => {
  const { body } = await gateway.request('GET', `${ROLES}?order=asc&limit=4`)
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual([
    'role_owner',
    'role_billing',
    'role_auditor',
    'role_reader',
  ])
  expect(body.data.every((role: { predefined_role: boolean }) => role.predefined_role)).toBe(true)
  for (const id of ['role_owner', 'owner', 'role_reader']) {
    const change = { permissions: ['usage.read'] }
    expect(failure(await gateway.request('POST', `${ROLES}/${id}`, { body: change }))[0]).toBe(409)
    expect(failure(await gateway.request('DELETE', `${ROLES}/${id}`))[0]).toBe(409)
  }
})

test('bad roles are refused', async () => {
  const projectId = await createProject(gateway)
  const at = `/v1/projects/${projectId}/roles`
  await gateway.request('POST', ROLES, { body: { role_name: 'Taken', permissions: ['usage.read'] } })
  const tries: [string, unknown, number][] = [
    [ROLES, { role_name: ' Owner ', permissions: ['usage.read'] }, 409],
    [ROLES, { role_name: 'TAKEN', permissions: ['usage.read'] }, 409],
    [ROLES, { role_name: nextName(), permissions: [] }, 400],
    [ROLES, { role_name: nextName(), permissions: ['everything'] }, 400],
    [ROLES, { role_name: nextName(), permissions: ['gateway.manage'] }, 400],
    [ROLES, { role_name: nextName(), permissions: ['usage.read'], admin: true }, 400],
    [at, { role_name: nextName(), permissions: ['billing.manage'] }, 400],
    [ROLES, '{"role_name":"\\ud800","permissions":["usage.read"]}', 400],
    [`${ROLES}/role_king`, { role_name: nextName() }, 404],
    [`${ROLES}/role_member`, { role_name: nextName() }, 404],
  ]
  for (const [path, body, expected] of tries) {
    const { status } = await gateway.request('POST', path, { body })
    expect([path, body, status]).toEqual([path, body, expected])
  }
})
