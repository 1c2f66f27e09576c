import OpenAI, {
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
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

function clientOf(key: string): OpenAI {
  return new OpenAI({ apiKey: key, adminAPIKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
}

/** Reads a list to its end, over its pages. */
async function idsOf(pages: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of pages) ids.push(id)
  return ids
}

test('admin keys: every method, pages and typed errors', async () => {
  const { adminAPIKeys } = client.admin.organization
  const created = await adminAPIKeys.create({ name: 'Terraform', expires_in_seconds: 3600 })
  const second = await adminAPIKeys.create({ name: 'Exporter' })
  const { value, ...shown } = created
  expect(await adminAPIKeys.retrieve(created.id)).toEqual(shown)
  const ids = await idsOf(adminAPIKeys.list({ limit: 1 }))
  expect(ids.slice(-2)).toEqual([created.id, second.id])
  expect(await idsOf(adminAPIKeys.list({ limit: 1, order: 'desc' }))).toEqual(ids.toReversed())
  const own = clientOf(value)
  expect((await own.admin.organization.projects.list()).data.length).toBeGreaterThan(0)
  expect(await adminAPIKeys.delete(created.id)).toEqual({
    object: 'organization.admin_api_key.deleted',
    id: created.id,
    deleted: true,
  })
  await expect(own.admin.organization.projects.list()).rejects.toThrow(AuthenticationError)
  await expect(adminAPIKeys.retrieve(created.id)).rejects.toThrow(NotFoundError)
  await expect(adminAPIKeys.create({ name: '' })).rejects.toThrow(BadRequestError)
  const ofProject = clientOf(await createProjectKey(gateway, await createProject(gateway)))
  await expect(ofProject.admin.organization.adminAPIKeys.create({ name: 'x' })).rejects.toThrow(
    PermissionDeniedError,
  )
})

test('the audit log: filters, pages in both directions and typed errors', async () => {
  const { auditLogs } = client.admin.organization
  const person = await joinAccount(gateway, { email: 'auditor@example.com', role: 'owner' })
  const { body } = await person.request('POST', '/v1/organization/projects', { name: 'Audited' })
  const project = String(body.id)
  await person.request('POST', `/v1/organization/projects/${project}`, { name: 'Renamed' })
  const first = await auditLogs.list({
    effective_at: { gt: 0, gte: 0, lt: 4_000_000_000, lte: 4_000_000_000 },
    project_ids: [project],
    event_types: ['project.created', 'project.updated'],
    actor_ids: [person.id],
    actor_emails: ['auditor@example.com'],
    resource_ids: [project],
    limit: 1,
  })
  expect(first.data).toMatchObject([
    {
      type: 'project.updated',
      project: { id: project, name: 'Renamed' },
      actor: { type: 'session', session: { user: { id: person.id, email: 'auditor@example.com' } } },
      'project.updated': { id: project, changes_requested: { title: 'Renamed' } },
    },
  ])
  const ids = await idsOf(auditLogs.list({ project_ids: [project], limit: 1 }))
  expect(ids).toHaveLength(2)
  const [newest = '', oldest = ''] = ids
  const back = await auditLogs.list({ project_ids: [project], before: oldest })
  expect(back.data.map(({ id }) => id)).toEqual([newest])
  await expect(auditLogs.list({ after: 'unknown' })).rejects.toThrow(BadRequestError)
  const ofProject = clientOf(await createProjectKey(gateway, project))
  await expect(ofProject.admin.organization.auditLogs.list()).rejects.toThrow(PermissionDeniedError)
})

test('model permissions of a project: every method and typed errors', async () => {
  const { modelPermissions } = client.admin.organization.projects
  const project = await createProject(gateway)
  const own = clientOf(await createProjectKey(gateway, project))
  const asked = { mode: 'allow_list', model_ids: ['gpt-5.4'] } as const
  const set = { object: 'project.model_permissions', ...asked }
  expect(await modelPermissions.update(project, { ...asked, model_ids: [...asked.model_ids] })).toEqual(set)
  expect(await modelPermissions.retrieve(project)).toEqual(set)
  expect((await own.models.list()).data.map(({ id }) => id)).toEqual(['gpt-5.4'])
  const chat = { messages: [{ role: 'user' as const, content: 'Hi' }], max_tokens: 5 }
  await expect(own.chat.completions.create({ model: 'gpt-5.4-mini', ...chat })).rejects.toThrow(
    PermissionDeniedError,
  )
  expect(await modelPermissions.delete(project)).toEqual({
    object: 'project.model_permissions.deleted',
    deleted: true,
  })
  expect((await own.chat.completions.create({ model: 'gpt-5.4-mini', ...chat })).choices).toHaveLength(1)
  const wrong = { mode: 'deny_list' as const, model_ids: ['no-such-model'] }
  await expect(modelPermissions.update(project, wrong)).rejects.toThrow(BadRequestError)
  await expect(modelPermissions.retrieve('proj_unknown')).rejects.toThrow(NotFoundError)
})

test('rate limits of a project: every method, pages in both directions and typed errors', async () => {
  const { rateLimits } = client.admin.organization.projects
  const project_id = await createProject(gateway)
  const own = clientOf(await createProjectKey(gateway, project_id))
  const set = await rateLimits.updateRateLimit('rl-gpt-5.4', { project_id, max_requests_per_1_day: 1 })
  expect(set).toMatchObject({ object: 'project.rate_limit', model: 'gpt-5.4', max_requests_per_1_day: 1 })
  const all: { id: string; max_requests_per_1_day?: number }[] = []
  for await (const one of rateLimits.listRateLimits(project_id, { limit: 20 })) all.push(one)
  expect(all.find(({ id }) => id === set.id)).toEqual(set)
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  const back = await rateLimits.listRateLimits(project_id, { before: all[2]?.id ?? '', limit: 20 })
  expect(back.data.map(({ id }) => id)).toEqual(all.slice(0, 2).map(({ id }) => id))
  const chat = { model: 'gpt-5.4', messages: [{ role: 'user' as const, content: 'Hi' }], max_tokens: 5 }
  await own.chat.completions.create(chat)
  await expect(own.chat.completions.create(chat)).rejects.toThrow(RateLimitError)
  await expect(
    rateLimits.updateRateLimit('rl-nobody', { project_id, max_requests_per_1_minute: 1 }),
  ).rejects.toThrow(NotFoundError)
  await expect(
    rateLimits.updateRateLimit('rl-gpt-5.4', { project_id, batch_1_day_max_input_tokens: 1 }),
  ).rejects.toThrow(BadRequestError)
})
