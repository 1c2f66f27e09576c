import OpenAI, { BadRequestError, NotFoundError, PermissionDeniedError } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey } from './join-account.ts'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = clientOf(gateway.key)
})
afterAll(() => gateway.close())

const clientOf = (key: string): OpenAI =>
  new OpenAI({ apiKey: key, adminAPIKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

const LIMIT = { threshold_amount: 12_345, currency: 'USD', interval: 'month' } as const

test('spend limits: the official client sets, reads and deletes them, with typed errors', async () => {
  const { spendLimit } = client.admin.organization
  await expect(spendLimit.retrieve()).rejects.toThrow(NotFoundError)
  expect(await spendLimit.update(LIMIT)).toMatchObject({ object: 'organization.spend_limit', ...LIMIT })
  expect((await spendLimit.retrieve()).enforcement.status).toBe('enforcing')
  expect(await spendLimit.delete()).toEqual({ object: 'organization.spend_limit.deleted', deleted: true })

  const ofProject = client.admin.organization.projects.spendLimit
  const project = await createProject(gateway)
  await expect(ofProject.retrieve(project)).rejects.toThrow(NotFoundError)
  await ofProject.update(project, LIMIT)
  expect(await ofProject.retrieve(project)).toMatchObject({ object: 'project.spend_limit', ...LIMIT })
  expect((await ofProject.delete(project)).deleted).toBe(true)
  await expect(ofProject.update('proj_0', LIMIT)).rejects.toThrow(NotFoundError)
  await expect(ofProject.update(project, { ...LIMIT, threshold_amount: -1 })).rejects.toThrow(BadRequestError)
})

test('spend alerts: every method, pages, and the ids of one project are unknown in another', async () => {
  const channel = { type: 'email' as const, recipients: ['ada@example.com'], subject_prefix: null }
  const order = { ...LIMIT, notification_channel: channel }
  const { spendAlerts } = client.admin.organization
  const made = await spendAlerts.create(order)
  const second = await spendAlerts.create({ ...order, threshold_amount: 500 })
  expect(await spendAlerts.retrieve(made.id)).toEqual(made)
  const changed = await spendAlerts.update(made.id, { ...order, threshold_amount: 777 })
  expect(changed.threshold_amount).toBe(777)
  const listed: string[] = []
  for await (const { id } of spendAlerts.list({ limit: 1 })) listed.push(id)
  expect(listed).toEqual([second.id, made.id])
  const idsOf = async (query: object) => (await spendAlerts.list(query)).data.map(({ id }) => id)
  const third = await spendAlerts.create(order)
  expect(await idsOf({ order: 'asc' })).toEqual([made.id, second.id, third.id])
  expect(await idsOf({ order: 'asc', after: made.id, limit: 1 })).toEqual([second.id])
  expect(await idsOf({ before: made.id })).toEqual([third.id, second.id])
  // The page right before it, not the first of all.
  expect(await idsOf({ before: made.id, limit: 1 })).toEqual([second.id])
  expect(await idsOf({ order: 'asc', before: third.id, limit: 1 })).toEqual([second.id])
  expect(await idsOf({ after: third.id, before: made.id })).toEqual([second.id])
  await expect(spendAlerts.list({ before: 'elsewhere' })).rejects.toThrow(BadRequestError)
  await spendAlerts.delete(third.id)
  const ofProject = client.admin.organization.projects.spendAlerts
  const project = await createProject(gateway)
  const alert = await ofProject.create(project, order)
  await expect(ofProject.retrieve(made.id, { project_id: project })).rejects.toThrow(NotFoundError)
  const other = await createProject(gateway)
  await expect(ofProject.retrieve(alert.id, { project_id: other })).rejects.toThrow(NotFoundError)
  const key = await createProjectKey(gateway, other)
  await expect(
    clientOf(key).admin.organization.projects.spendAlerts.delete(alert.id, { project_id: project }),
  ).rejects.toThrow(NotFoundError)
  await expect(clientOf(key).admin.organization.spendAlerts.create(order)).rejects.toThrow(
    PermissionDeniedError,
  )
  expect(await ofProject.delete(alert.id, { project_id: project })).toMatchObject({ deleted: true })
  expect((await spendAlerts.delete(made.id)).object).toBe('organization.spend_alert.deleted')
})
