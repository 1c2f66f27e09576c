import OpenAI, {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = clientOf(gateway.key)
})
afterAll(() => gateway.close())

function clientOf(key: string, options: { organization?: string; project?: string } = {}): OpenAI {
  return new OpenAI({
    apiKey: key,
    adminAPIKey: key,
    baseURL: `${gateway.baseUrl}/v1`,
    maxRetries: 0,
    ...options,
  })
}

/** Reads a list to its end, over its pages. */
async function idsOf(pages: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of pages) ids.push(id)
  return ids
}

test('projects: every method, pages and typed errors', async () => {
  const { projects } = client.admin.organization
  const created = await projects.create({ name: 'Search' })
  const second = await projects.create({ name: 'Browse' })
  expect(await projects.retrieve(created.id)).toEqual(created)
  expect((await projects.update(created.id, { name: 'Find' })).name).toBe('Find')
  const ids = await idsOf(projects.list({ limit: 1 }))
  expect(ids.slice(0, 2)).toEqual([second.id, created.id])
  expect((await projects.archive(created.id)).status).toBe('archived')
  expect(await idsOf(projects.list({ limit: 1 }))).not.toContain(created.id)
  expect(await idsOf(projects.list({ limit: 1, include_archived: true }))).toContain(created.id)
  await expect(projects.create({ name: '' })).rejects.toThrow(BadRequestError)
  await expect(projects.retrieve('proj_unknown')).rejects.toThrow(NotFoundError)
  await expect(projects.update(created.id, { name: 'x' })).rejects.toThrow(ConflictError)
})

test('invites and users: every method, pages and typed errors', async () => {
  const { invites, users } = client.admin.organization
  const project = await client.admin.organization.projects.create({ name: 'Search' })
  const invite = await invites.create({
    email: 'ada@example.com',
    role: 'reader',
    projects: [{ id: project.id, role: 'member' }],
  })
  const other = await invites.create({ email: 'alan@example.com', role: 'owner' })
  expect(await invites.retrieve(invite.id)).toMatchObject({
    id: invite.id,
    status: 'pending',
    projects: [{ id: project.id, role: 'member' }],
  })
  expect(await idsOf(invites.list({ limit: 1 }))).toEqual([other.id, invite.id])
  expect(await invites.delete(other.id)).toEqual({
    object: 'organization.invite.deleted',
    id: other.id,
    deleted: true,
  })
  await expect(invites.retrieve(other.id)).rejects.toThrow(NotFoundError)

  const people = [
    await joinAccount(gateway, { email: 'one@example.com' }),
    await joinAccount(gateway, { email: 'two@example.com' }),
  ]
  const [{ id } = { id: '' }] = people
  expect(await users.retrieve(id)).toMatchObject({ object: 'organization.user', id, role: 'reader' })
  expect(new Set(await idsOf(users.list({ limit: 1 })))).toEqual(new Set(people.map((one) => one.id)))
  expect(await idsOf(users.list({ emails: ['ONE@example.com'] }))).toEqual([id])
  expect((await users.update(id, { role: 'owner' })).role).toBe('owner')
  await expect(users.update(id, { role: 'king' })).rejects.toThrow(BadRequestError)
  await expect(invites.create({ email: 'one@example.com', role: 'owner' })).rejects.toThrow(ConflictError)
  expect(await users.delete(id)).toMatchObject({ object: 'organization.user.deleted', deleted: true })
  await expect(users.retrieve(id)).rejects.toThrow(NotFoundError)
})

test('the users of a project: every method, pages and typed errors', async () => {
  const { users } = client.admin.organization.projects
  const project_id = await createProject(gateway)
  const people = [
    await joinAccount(gateway, { email: 'three@example.com' }),
    await joinAccount(gateway, { email: 'four@example.com' }),
  ]
  for (const { id } of people) await users.create(project_id, { user_id: id, role: 'member' })
  const [{ id } = { id: '' }] = people
  expect(await users.retrieve(id, { project_id })).toMatchObject({ id, role: 'member' })
  expect((await users.update(id, { project_id, role: 'owner' })).role).toBe('owner')
  expect(new Set(await idsOf(users.list(project_id, { limit: 1 })))).toEqual(
    new Set(people.map((one) => one.id)),
  )
  expect(await users.delete(id, { project_id })).toMatchObject({ id, deleted: true })
  await expect(users.retrieve(id, { project_id })).rejects.toThrow(NotFoundError)
  await expect(users.create(project_id, { user_id: 'user-unknown', role: 'member' })).rejects.toThrow(
    NotFoundError,
  )
})

test('service accounts and keys of a project: every method, pages and typed errors', async () => {
  const { serviceAccounts, apiKeys } = client.admin.organization.projects
  const project_id = await createProject(gateway)
  const created = await serviceAccounts.create(project_id, { name: 'CI' })
  const second = await serviceAccounts.create(project_id, { name: 'CD', create_service_account_only: true })
  expect(second.api_key).toBeNull()
  expect(await serviceAccounts.retrieve(created.id, { project_id })).toMatchObject({ name: 'CI' })
  const changed = await serviceAccounts.update(created.id, { project_id, name: 'Nightly', role: 'owner' })
  expect([changed.name, changed.role]).toEqual(['Nightly', 'owner'])
  expect(await idsOf(serviceAccounts.list(project_id, { limit: 1 }))).toEqual([second.id, created.id])
  const further = await serviceAccounts.apiKeys.create(created.id, { project_id, name: 'Further' })
  const models = await clientOf(further.value).models.list()
  expect(models.data.length).toBeGreaterThan(0)

  const keyIds = await idsOf(apiKeys.list(project_id, { limit: 1 }))
  expect(keyIds).toEqual([further.id, created.api_key?.id])
  expect(await apiKeys.retrieve(further.id, { project_id })).toMatchObject({
    object: 'organization.project.api_key',
    owner: { type: 'service_account', service_account: { id: created.id } },
    owner_project_access: 'active',
  })
  expect(await apiKeys.delete(further.id, { project_id })).toMatchObject({ id: further.id, deleted: true })
  await expect(clientOf(further.value).models.list()).rejects.toThrow(AuthenticationError)
  await expect(apiKeys.retrieve(further.id, { project_id })).rejects.toThrow(NotFoundError)
  expect(await serviceAccounts.delete(created.id, { project_id })).toMatchObject({ deleted: true })
  await expect(serviceAccounts.retrieve(created.id, { project_id })).rejects.toThrow(NotFoundError)
})

test('a key of a project is not an admin key, and its client can name the project and no other', async () => {
  const [own, other] = [await createProject(gateway), await createProject(gateway)]
  const key = await createProjectKey(gateway, own)
  const limited = clientOf(key, { project: own })
  expect((await limited.admin.organization.projects.retrieve(own)).id).toBe(own)
  await expect(limited.admin.organization.projects.retrieve(other)).rejects.toThrow(NotFoundError)
  await expect(limited.admin.organization.users.list()).rejects.toThrow(PermissionDeniedError)
  for (const wrong of [{ project: other }, { organization: 'org-other' }]) {
    await expect(clientOf(key, wrong).models.list()).rejects.toMatchObject({
      status: 401,
      code: 'project' in wrong ? 'mismatched_project' : 'mismatched_organization',
    })
  }
})

test('groups, their users and their projects: every method, pages in both directions and typed errors', async () => {
  const { groups } = client.admin.organization
  const first = await groups.create({ name: 'Engineers' })
  const second = await groups.create({ name: 'Researchers' })
  expect(await groups.retrieve(first.id)).toEqual(first)
  expect((await groups.update(first.id, { name: 'Builders' })).name).toBe('Builders')
  expect(await idsOf(groups.list({ limit: 1 }))).toEqual([second.id, first.id])
  expect(await idsOf(groups.list({ limit: 1, order: 'asc' }))).toEqual([first.id, second.id])
  await expect(groups.create({ name: 'researchers' })).rejects.toThrow(ConflictError)

  const people = [
    await joinAccount(gateway, { email: 'five@example.com' }),
    await joinAccount(gateway, { email: 'six@example.com' }),
  ]
  const [{ id: user_id } = { id: '' }] = people
  const group_id = first.id
  expect(await groups.users.create(group_id, { user_id })).toEqual({
    object: 'group.user',
    user_id,
    group_id,
  })
  for (const { id } of people.slice(1)) await groups.users.create(group_id, { user_id: id })
  expect(await idsOf(groups.users.list(group_id, { limit: 1, order: 'asc' }))).toEqual(
    people.map(({ id }) => id).toSorted(),
  )
  expect(await groups.users.retrieve(user_id, { group_id })).toMatchObject({ id: user_id, user_type: 'user' })
  expect(await groups.users.delete(user_id, { group_id })).toMatchObject({ deleted: true })
  await expect(groups.users.retrieve(user_id, { group_id })).rejects.toThrow(NotFoundError)

  const inProject = client.admin.organization.projects.groups
  const project_id = await createProject(gateway)
  expect(await inProject.create(project_id, { group_id, role: 'member' })).toMatchObject({
    object: 'project.group',
    project_id,
    group_id,
    group_name: 'Builders',
  })
  await inProject.create(project_id, { group_id: second.id, role: 'viewer' })
  const listed: string[] = []
  for await (const one of inProject.list(project_id, { limit: 1 })) listed.push(one.group_id)
  expect(listed).toEqual([second.id, first.id])
  expect((await inProject.retrieve(group_id, { project_id })).group_id).toBe(group_id)
  expect(await inProject.delete(group_id, { project_id })).toMatchObject({ deleted: true })
  await expect(inProject.retrieve(group_id, { project_id })).rejects.toThrow(NotFoundError)
  expect(await groups.delete(group_id)).toEqual({ object: 'group.deleted', id: group_id, deleted: true })
  await expect(groups.retrieve(group_id)).rejects.toThrow(NotFoundError)
})
