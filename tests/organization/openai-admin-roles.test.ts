import OpenAI, { BadRequestError, ConflictError, NotFoundError, PermissionDeniedError } from 'openai'
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

const clientOf = (key: string): OpenAI =>
  new OpenAI({ apiKey: key, adminAPIKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

/** Reads a list to its end, over its pages. */
async function idsOf(pages: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of pages) ids.push(id)
  return ids
}

const own = (ids: readonly string[], made: readonly string[]) => ids.filter((id) => made.includes(id))

test('roles of the account: every method, pages in both directions and typed errors', async () => {
  const { roles } = client.admin.organization
  const first = await roles.create({
    role_name: 'Reporter',
    permissions: ['usage.read'],
    description: 'Reads',
  })
  const second = await roles.create({ role_name: 'Logger', permissions: ['log.read'] })
  expect(first).toMatchObject({
    object: 'role',
    name: 'Reporter',
    description: 'Reads',
    permissions: ['usage.read'],
    predefined_role: false,
  })
  expect(await roles.retrieve(first.id)).toEqual(first)
  const changed = await roles.update(first.id, {
    role_name: 'Accountant',
    permissions: ['usage.read', 'log.read'],
  })
  expect([changed.name, changed.description]).toEqual(['Accountant', 'Reads'])
  const made = [first.id, second.id]
  expect(own(await idsOf(roles.list({ limit: 1, order: 'asc' })), made)).toEqual(made)
  expect(own(await idsOf(roles.list({ limit: 1, order: 'desc' })), made)).toEqual(made.toReversed())
  expect(await idsOf(roles.list())).toEqual(expect.arrayContaining(['role_owner', 'role_reader']))
  await expect(roles.create({ role_name: 'logger', permissions: ['log.read'] })).rejects.toThrow(
    ConflictError,
  )
  await expect(roles.create({ role_name: 'x', permissions: ['everything'] })).rejects.toThrow(BadRequestError)
  await expect(roles.update('role_owner', { role_name: 'x' })).rejects.toThrow(ConflictError)
  expect(await roles.delete(second.id)).toEqual({ object: 'role.deleted', id: second.id, deleted: true })
  await expect(roles.retrieve(second.id)).rejects.toThrow(NotFoundError)
  await expect(roles.delete(second.id)).rejects.toThrow(NotFoundError)
})

test('roles of a project: every method, pages and typed errors', async () => {
  const { roles } = client.admin.organization.projects
  const project = await createProject(gateway)
  const first = await roles.create(project, { role_name: 'Reporter', permissions: ['usage.read'] })
  const second = await roles.create(project, { role_name: 'Logger', permissions: ['log.read'] })
  expect(await roles.retrieve(first.id, { project_id: project })).toEqual(first)
  const changed = await roles.update(first.id, { project_id: project, description: 'Reads' })
  expect([changed.name, changed.description]).toEqual(['Reporter', 'Reads'])
  const made = [first.id, second.id]
  expect(own(await idsOf(roles.list(project, { limit: 1, order: 'asc' })), made)).toEqual(made)
  const other = await createProject(gateway)
  await expect(roles.retrieve(first.id, { project_id: other })).rejects.toThrow(NotFoundError)
  const limited = clientOf(await createProjectKey(gateway, other)).admin.organization.projects.roles
  await expect(limited.create(project, { role_name: 'x', permissions: ['usage.read'] })).rejects.toThrow(
    NotFoundError,
  )
  expect(await roles.delete(first.id, { project_id: project })).toMatchObject({ id: first.id, deleted: true })
  await expect(roles.retrieve(first.id, { project_id: project })).rejects.toThrow(NotFoundError)
})

test('roles of people and groups in the account: every method, pages and typed errors', async () => {
  const { users, groups, roles } = client.admin.organization
  const { id: user } = await joinAccount(gateway, { email: 'roles@example.com' })
  const group = await groups.create({ name: 'Roles' })
  const given = [
    await roles.create({ role_name: 'Given', permissions: ['usage.read'] }),
    await roles.create({ role_name: 'Given too', permissions: ['log.read'] }),
  ]
  const [{ id: role_id } = { id: '' }] = given
  for (const { id } of given) {
    expect(await users.roles.create(user, { role_id: id })).toMatchObject({
      object: 'user.role',
      user: { id: user },
      role: { id, object: 'role' },
    })
    expect(await groups.roles.create(group.id, { role_id: id })).toMatchObject({
      object: 'group.role',
      group: { id: group.id, name: 'Roles' },
      role: { id },
    })
  }
  const made = given.map(({ id }) => id)
  expect(own(await idsOf(users.roles.list(user, { limit: 1, order: 'asc' })), made)).toEqual(made)
  expect(await idsOf(groups.roles.list(group.id, { limit: 1, order: 'asc' }))).toEqual(made)
  const sources = [{ principal_id: user, principal_type: 'user' }]
  expect((await users.roles.retrieve(role_id, { user_id: user })).assignment_sources).toMatchObject(sources)
  expect((await groups.roles.retrieve(role_id, { group_id: group.id })).name).toBe('Given')
  expect((await users.roles.delete(role_id, { user_id: user })).deleted).toBe(true)
  expect((await groups.roles.delete(role_id, { group_id: group.id })).deleted).toBe(true)
  await expect(users.roles.retrieve(role_id, { user_id: user })).rejects.toThrow(NotFoundError)
  await expect(groups.roles.retrieve(role_id, { group_id: group.id })).rejects.toThrow(NotFoundError)
  await expect(users.roles.create(user, { role_id: 'role_unknown' })).rejects.toThrow(NotFoundError)
  await expect(users.roles.create('user-unknown', { role_id })).rejects.toThrow(NotFoundError)
})

test('roles of people and groups in a project: every method, pages and typed errors', async () => {
  const { projects, groups } = client.admin.organization
  const project_id = await createProject(gateway)
  const { id: user_id } = await joinAccount(gateway, {
    email: 'project-roles@example.com',
    projects: [{ id: project_id, role: 'member' }],
  })
  const { id: group_id } = await groups.create({ name: 'Project roles' })
  await projects.groups.create(project_id, { group_id, role: 'viewer' })
  const given = [
    await projects.roles.create(project_id, { role_name: 'Given', permissions: ['usage.read'] }),
    await projects.roles.create(project_id, { role_name: 'Given too', permissions: ['log.read'] }),
  ]
  const made = given.map(({ id }) => id)
  const [role_id = ''] = made
  for (const id of made) {
    const role = { project_id, role_id: id }
    expect((await projects.users.roles.create(user_id, role)).role.id).toBe(id)
    expect((await projects.groups.roles.create(group_id, role)).group.id).toBe(group_id)
  }
  const page = { project_id, limit: 1, order: 'asc' } as const
  expect(own(await idsOf(projects.users.roles.list(user_id, page)), made)).toEqual(made)
  expect(own(await idsOf(projects.groups.roles.list(group_id, page)), made)).toEqual(made)
  expect((await projects.users.roles.retrieve(role_id, { project_id, user_id })).id).toBe(role_id)
  expect((await projects.groups.roles.retrieve(role_id, { project_id, group_id })).id).toBe(role_id)
  expect((await projects.users.roles.delete(role_id, { project_id, user_id })).deleted).toBe(true)
  expect((await projects.groups.roles.delete(role_id, { project_id, group_id })).deleted).toBe(true)
  await expect(projects.users.roles.retrieve(role_id, { project_id, user_id })).rejects.toThrow(NotFoundError)
  await expect(projects.groups.roles.retrieve(role_id, { project_id, group_id })).rejects.toThrow(
    NotFoundError,
  )
  const elsewhere = { project_id: await createProject(gateway), role_id }
  await expect(projects.users.roles.create(user_id, elsewhere)).rejects.toThrow(NotFoundError)
})

test('data retention: every method, of the account and of a project, with typed errors', async () => {
  const { dataRetention, projects } = client.admin.organization
  const zero = { retention_type: 'zero_data_retention' } as const
  expect((await dataRetention.retrieve()).type).toBe('modified_abuse_monitoring')
  expect(await dataRetention.update(zero)).toEqual({
    object: 'organization.data_retention',
    type: 'zero_data_retention',
  })
  await dataRetention.update({ retention_type: 'modified_abuse_monitoring' })
  const enhanced = { retention_type: 'enhanced_zero_data_retention' } as const
  await expect(dataRetention.update(enhanced)).rejects.toThrow(BadRequestError)
  const project = await createProject(gateway)
  expect((await projects.dataRetention.retrieve(project)).type).toBe('organization_default')
  expect(await projects.dataRetention.update(project, zero)).toEqual({
    object: 'project.data_retention',
    type: 'zero_data_retention',
  })
  await expect(projects.dataRetention.update('proj_0', zero)).rejects.toThrow(NotFoundError)
  await expect(projects.dataRetention.update(project, { retention_type: 'none' })).rejects.toThrow(
    BadRequestError,
  )
  const limited = clientOf(await createProjectKey(gateway, project)).admin.organization
  await expect(limited.dataRetention.retrieve()).rejects.toThrow(PermissionDeniedError)
  await expect(limited.projects.dataRetention.update(project, zero)).rejects.toThrow(PermissionDeniedError)
})
