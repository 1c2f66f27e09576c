import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { connectDirectory, createPerson, type ScimClient } from './scim-client.ts'

let gateway: TestGateway
let directory: ScimClient
let groups = 0

beforeAll(async () => {
  gateway = await startTestGateway()
  directory = await connectDirectory(gateway)
})
afterAll(() => gateway.close())

async function createGroup(members: readonly string[] = [], displayName = `Group ${++groups}`) {
  const { status, body } = await directory.request('POST', '/Groups', {
    displayName,
    members: members.map((value) => ({ value })),
  })
  expect([status, body]).toEqual([201, body])
  return body
}

const patch = async (id: string, ...Operations: unknown[]) =>
  directory.request('PATCH', `/Groups/${id}`, { Operations })

async function membersOf(id: string): Promise<string[]> {
  const { body } = await directory.request('GET', `/Groups/${id}`)
  return body.members.map(({ value }: { value: string }) => value)
}

describe('a group', () => {
  test('is a managed group of the account if it is of a directory', async () => {
    const person = await createPerson(directory)
    const group = await createGroup([person.id])
    expect(group.members).toMatchObject([{ value: person.id, type: 'User' }])
    const { body } = await gateway.request('GET', `/v1/organization/groups/${group.id}`)
    expect(body).toMatchObject({ name: group.displayName, is_scim_managed: true })
    const { body: users } = await gateway.request('GET', `/v1/organization/groups/${group.id}/users`)
    expect(users.data).toMatchObject([{ email: person.userName, is_scim_managed: true }])
  })

  test('gives and takes members one by one, and all at once', async () => {
    const [one, two, three] = [
      await createPerson(directory),
      await createPerson(directory),
      await createPerson(directory),
    ]
    const { id } = await createGroup([one.id])
    const added = await patch(id, { op: 'Add', path: 'members', value: [{ value: two.id }] })
    expect([added.status, added.body]).toEqual([204, ''])
    expect(await membersOf(id)).toEqual([one.id, two.id])
    await patch(id, { op: 'remove', path: `members[value eq "${one.id}"]` })
    expect(await membersOf(id)).toEqual([two.id])
    await patch(id, { op: 'Remove', path: 'members', value: [{ $ref: null, value: two.id }] })
    expect(await membersOf(id)).toEqual([])
    await patch(id, { op: 'replace', value: { id, displayName: 'Renamed', members: [{ value: three.id }] } })
    expect(await membersOf(id)).toEqual([three.id])
    const put = await directory.request('PUT', `/Groups/${id}`, {
      displayName: 'Renamed',
      members: [{ value: one.id }],
    })
    expect([put.status, put.body.members]).toMatchObject([200, [{ value: one.id }]])
    await patch(id, { op: 'remove', path: 'members' })
    expect(await membersOf(id)).toEqual([])
  })

  test('keeps its members when the directory writes or removes what they are called', async () => {
    const [one, two] = [await createPerson(directory), await createPerson(directory)]
    const { id } = await createGroup([one.id])
    const shown = { value: two.id, type: 'User', display: 'Somebody', $ref: `/Users/${two.id}` }
    expect((await patch(id, { op: 'Add', path: 'members', value: [shown] })).status).toBe(204)
    const ofOne = `members[value eq "${one.id}"]`
    for (const operation of [
      { op: 'replace', path: 'members.display', value: 'Ada' },
      { op: 'add', path: `${ofOne}.display`, value: 'Ada' },
      { op: 'replace', path: `${ofOne}.type`, value: 'User' },
      { op: 'remove', path: `${ofOne}.display` },
      { op: 'remove', path: 'members.display' },
      { op: 'remove', path: 'members.type' },
    ]) {
      expect([operation, (await patch(id, operation)).status]).toEqual([operation, 204])
      expect([operation, await membersOf(id)]).toEqual([operation, [one.id, two.id]])
    }
  })

  test('is listed and read without its members if they are not wanted', async () => {
    const { id, displayName } = await createGroup([(await createPerson(directory)).id])
    const filter = encodeURIComponent(`displayName eq "${displayName}"`)
    const { body } = await directory.request('GET', `/Groups?filter=${filter}&excludedAttributes=members`)
    expect(body.Resources).toHaveLength(1)
    expect(body.Resources[0]).not.toHaveProperty('members')
    const read = await directory.request('GET', `/Groups/${id}?attributes=displayName`)
    expect(read.body).toEqual({ id, schemas: read.body.schemas, displayName })
  })

  test('is found by a member', async () => {
    const person = await createPerson(directory)
    const { id } = await createGroup([person.id])
    for (const filter of [
      `id eq "${id}" and members eq "${person.id}"`,
      `members[value eq "${person.id}"]`,
    ]) {
      const { body } = await directory.request('GET', `/Groups?filter=${encodeURIComponent(filter)}`)
      expect([filter, body.totalResults]).toEqual([filter, 1])
    }
  })

  test('is not changed by hand, and keeps whom somebody put into it before', async () => {
    const made = await gateway.request('POST', '/v1/organization/groups', { body: { name: 'Precreated' } })
    const person = await createPerson(directory)
    const { body: members } = await gateway.request(
      'GET',
      `/v1/organization/users?emails[]=${person.userName}`,
    )
    const userId = members.data[0].id
    const users = `/v1/organization/groups/${made.body.id}/users`
    await gateway.request('POST', users, { body: { user_id: userId } })
    const taken = await createGroup([], 'precreated')
    expect(taken.members).toEqual([])
    expect((await gateway.request('GET', users)).body.data).toMatchObject([{ is_scim_managed: false }])
    const renamed = await gateway.request('POST', `/v1/organization/groups/${made.body.id}`, {
      body: { name: 'x' },
    })
    expect([renamed.status, renamed.body.error.message]).toEqual([
      409,
      expect.stringContaining('A directory manages'),
    ])
    // The directory says so too: now only it takes the person out.
    await patch(taken.id, { op: 'add', path: 'members', value: [{ value: person.id }] })
    expect((await gateway.request('DELETE', `${users}/${userId}`)).status).toBe(409)
    await patch(taken.id, { op: 'remove', path: `members[value eq "${person.id}"]` })
    expect((await gateway.request('GET', users)).body.data).toEqual([])
    expect((await gateway.request('POST', users, { body: { user_id: userId } })).status).toBe(409)
  })

  test('gives its role in a project to a person whose key is in use, and takes it', async () => {
    const person = await createPerson(directory)
    const group = await createGroup()
    const project = await gateway.request('POST', '/v1/organization/projects', { body: { name: 'Search' } })
    await gateway.request('POST', `/v1/organization/projects/${project.body.id}/groups`, {
      body: { group_id: group.id, role: 'member' },
    })
    const at = `/v1/organization/projects/${project.body.id}/groups/${group.id}`
    expect((await gateway.request('GET', at)).status).toBe(200)
    await patch(group.id, { op: 'add', path: 'members', value: [{ value: person.id }] })
    expect((await directory.request('DELETE', `/Groups/${group.id}`)).status).toBe(204)
    expect((await gateway.request('GET', at)).status).toBe(404)
  })

  test.each([
    [
      { op: 'add', path: 'members', value: [{ value: '01a1effe-44cd-71a0-b867-4dcb5b644571' }] },
      'invalidValue',
    ],
    [{ op: 'add', path: 'members', value: [{ value: 'x' }] }, 'invalidValue'],
    [{ op: 'add', path: 'members', value: [{ value: 'x', type: 'Group' }] }, 'invalidValue'],
    [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    [{ op: 'replace', path: 'members.type', value: 'Group' }, 'invalidValue'],
    [{ op: 'remove', path: 'members.name' }, 'invalidPath'],
    [{ op: 'remove', path: 'members[type eq "x"]' }, 'invalidFilter'],
    [{ op: 'remove', path: 'members[' }, 'invalidPath'],
    [{ op: 'remove' }, 'noTarget'],
  ])('400: %j', async (operation, scimType) => {
    const { id } = await createGroup()
    const { status, body } = await patch(id, operation)
    expect([status, body.scimType]).toEqual([400, scimType])
  })
})

test('412: If-Match names another version', async () => {
  const { id, meta } = await createGroup()
  const change = (version: string) =>
    directory.request(
      'PATCH',
      `/Groups/${id}`,
      { Operations: [{ op: 'replace', path: 'externalId', value: version }] },
      { 'if-match': version },
    )
  expect((await change(meta.version)).status).toBe(204)
  expect((await change(meta.version)).status).toBe(412)
})

test('the service describes itself', async () => {
  const config = await directory.request('GET', '/ServiceProviderConfig')
  expect(config.body).toMatchObject({
    patch: { supported: true },
    filter: { maxResults: 200 },
    etag: { supported: true },
  })
  const types = await directory.request('GET', '/ResourceTypes')
  expect(types.body.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group'])
  const schema = await directory.request('GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User')
  expect(schema.body.name).toBe('User')
  expect((await directory.request('GET', '/Schemas/urn:x')).status).toBe(404)
})
