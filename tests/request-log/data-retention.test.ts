import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { createProject, createProjectKey } from '../organization/join-account.ts'
import { startBodiesGateway, type BodiesGateway } from './start-bodies-gateway.ts'

let gateway: BodiesGateway

beforeAll(async () => {
  gateway = await startBodiesGateway()
})

afterEach(async () => {
  await retain('modified_abuse_monitoring')
  await gateway.store({ enabled: false })
})

afterAll(async () => {
  await gateway.close()
})

const ACCOUNT = '/v1/organization/data_retention'
const ofProject = (id: string) => `/v1/organization/projects/${id}/data_retention`

async function retain(retention_type: string, path = ACCOUNT) {
  const answer = await gateway.request('POST', path, { body: { retention_type } })
  expect(answer.status).toBe(200)
  return answer.body
}

const countBodies = async () =>
  Number(
    (await gateway.database.query<{ count: bigint }>('SELECT count(*) AS count FROM request_bodies'))[0]
      ?.count,
  )

const respond = (members: object = {}, options: { key?: string; headers?: Record<string, string> } = {}) =>
  gateway.request('POST', '/v1/responses', {
    body: { model: 'gpt-5.4-mini', input: 'Hi', ...members },
    ...options,
  })

describe('data retention of the account', () => {
  test('is read and set in the form of the Administration API', async () => {
    const usual = { object: 'organization.data_retention', type: 'modified_abuse_monitoring' }
    const zero = { ...usual, type: 'zero_data_retention' }
    expect((await gateway.request('GET', ACCOUNT)).body).toEqual(usual)
    expect(await retain('zero_data_retention')).toEqual(zero)
    expect((await gateway.request('GET', ACCOUNT)).body).toEqual(zero)
    expect(await retain('modified_abuse_monitoring')).toEqual(usual)
  })

  test('zero deletes stored bodies, stores no further ones, and body storage is refused by everybody', async () => {
    await gateway.store({ enabled: true })
    const before = await gateway.ask()
    await gateway.readStored(before.requestId)
    await retain('zero_data_retention')
    expect((await gateway.readBody(before.requestId)).status).toBe(404)
    expect((await gateway.request('GET', '/v1/body-storage')).body).toMatchObject({
      enabled: false,
      stored_bytes: 0,
    })
    const { id } = await gateway.createKey(['inference'])
    const operators = `/v1/admin/accounts/${gateway.accountId}/body-storage`
    for (const [path, body] of [
      ['/v1/body-storage', { enabled: true }],
      ['/v1/body-storage', { enabled: true, key_id: id }],
      [operators, { enabled: true }],
    ] as const) {
      const { status, body: refused } = await gateway.request('PATCH', path, { body })
      expect([status, refused.error.code]).toEqual([409, 'conflict'])
    }
    await gateway.ask()
    await gateway.readBody((await gateway.ask()).requestId)
    expect(await countBodies()).toBe(0)
  })

  test('storage that was on stays off when zero retention ends', async () => {
    await gateway.store({ enabled: true })
    await retain('zero_data_retention')
    await retain('modified_abuse_monitoring')
    await gateway.readBody((await gateway.ask()).requestId)
    expect(await countBodies()).toBe(0)
  })

  test('a body that a process still holds is not stored after the answer', async () => {
    await gateway.store({ enabled: true })
    const asking = Promise.all(Array.from({ length: 20 }, () => gateway.ask()))
    await retain('zero_data_retention')
    const asked = await asking
    await gateway.readBody(asked[0]?.requestId ?? '')
    expect(await countBodies()).toBe(0)
  })

  test('responses are not stored, whatever the request says, and none is made in the background', async () => {
    await retain('zero_data_retention')
    for (const members of [{}, { store: true }]) {
      const { status, body } = await respond(members)
      expect([status, body.store]).toEqual([200, false])
      expect((await gateway.request('GET', `/v1/responses/${body.id}`)).status).toBe(404)
    }
    const { status, body } = await respond({ background: true })
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', 'background'])
    await retain('modified_abuse_monitoring')
    const stored = await respond()
    expect((await gateway.request('GET', `/v1/responses/${stored.body.id}`)).status).toBe(200)
  })

  test('an answer is not kept for repetitions of an Idempotency-Key, and the work is still done once', async () => {
    await retain('zero_data_retention')
    const headers = { 'idempotency-key': 'kept-nowhere' }
    expect((await respond({}, { headers })).status).toBe(200)
    const { status, body } = await respond({}, { headers })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    const [row] = await gateway.database.query<{ kept: bigint }>(
      `SELECT count(*) AS kept FROM idempotency_keys WHERE answer IS NOT NULL`,
    )
    expect(Number(row?.kept)).toBe(0)
  })

  test('another account is not touched', async () => {
    const stranger = await createStranger(gateway, 5)
    await retain('zero_data_retention')
    const theirs = await gateway.request('GET', ACCOUNT, { key: stranger })
    expect(theirs.body.type).toBe('modified_abuse_monitoring')
    const { body } = await respond({}, { key: stranger })
    expect(body.store).toBe(true)
  })

  test.each(['enhanced_zero_data_retention', 'enhanced_modified_abuse_monitoring', 'none', 'never'])(
    '400: %s means nothing here',
    async (retention_type) => {
      const { status, body } = await gateway.request('POST', ACCOUNT, { body: { retention_type } })
      expect([status, body.error.param]).toEqual([400, 'retention_type'])
    },
  )

  test('403: a key of a project and a restricted key', async () => {
    const id = await createProject(gateway)
    const key = await createProjectKey(gateway, id)
    const body = { retention_type: 'modified_abuse_monitoring' }
    for (const path of [ACCOUNT, ofProject(id)])
      expect((await gateway.request('POST', path, { key, body })).status).toBe(403)
    const { body: limited } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'limited', scopes: ['manage', 'inference'], limit_usd: 1 },
    })
    expect((await gateway.request('POST', ACCOUNT, { key: limited.key, body })).status).toBe(403)
  })
})

describe('data retention of a project', () => {
  test('zero holds for its keys only, and its keys can read it', async () => {
    const id = await createProject(gateway)
    const key = await createProjectKey(gateway, id)
    await gateway.store({ enabled: true })
    const before = await gateway.ask({}, key)
    await gateway.readStored(before.requestId)
    const usual = { object: 'project.data_retention', type: 'organization_default' }
    expect((await gateway.request('GET', ofProject(id), { key })).body).toEqual(usual)
    expect(await retain('zero_data_retention', ofProject(id))).toEqual({
      ...usual,
      type: 'zero_data_retention',
    })
    expect((await gateway.readBody(before.requestId)).status).toBe(404)
    expect((await gateway.readBody((await gateway.ask({}, key)).requestId)).status).toBe(404)
    await gateway.readStored((await gateway.ask()).requestId)
    expect((await respond({}, { key })).body.store).toBe(false)
    expect((await respond()).body.store).toBe(true)

    const { body: list } = await gateway.request('GET', `/v1/organization/projects/${id}/api_keys`)
    const refused = await gateway.request('PATCH', '/v1/body-storage', {
      body: { enabled: true, key_id: list.data[0].id },
    })
    expect(refused.status).toBe(409)
    await retain('organization_default', ofProject(id))
    await gateway.readStored((await gateway.ask({}, key)).requestId)
  })

  test('zero of the account holds for all of its projects', async () => {
    const id = await createProject(gateway)
    const key = await createProjectKey(gateway, id)
    await retain('zero_data_retention')
    await retain('organization_default', ofProject(id))
    expect((await respond({}, { key })).body.store).toBe(false)
  })

  test('404: a project of another account; 409: an archived one; 400: less than the account has', async () => {
    const stranger = await createStranger(gateway)
    const id = await createProject(gateway)
    const body = { retention_type: 'zero_data_retention' }
    const theirs = { key: stranger }
    expect((await gateway.request('GET', ofProject(id), theirs)).status).toBe(404)
    expect((await gateway.request('POST', ofProject(id), { ...theirs, body })).status).toBe(404)
    for (const retention_type of ['none', 'modified_abuse_monitoring', 'enhanced_zero_data_retention']) {
      const { status } = await gateway.request('POST', ofProject(id), { body: { retention_type } })
      expect(status).toBe(400)
    }
    await gateway.request('POST', `/v1/organization/projects/${id}/archive`)
    expect((await gateway.request('POST', ofProject(id), { body })).status).toBe(409)
  })
})
